const MARKS: readonly RegExp[] = [
  /\s*[_*]?Offline engine: (?:quoted from|no language)[\s\S]*$/, // the notice that the page says elsewhere; a snippet can end within it
  /^[ \t]*(?:#{1,6}|>|[-*+]|\d{1,3}\.)[ \t]+/gm,
  /\*\*|__|~~|`+/g,
  /(?<![\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}])/gu,
  /[ \t]*\[\^?\d{1,3}\]/g,
];

/** The text of a piece of an answer, for a list: without the marks of Markdown and the numbers of citations. */
export const plain = (markdown: string): string => MARKS.reduce((text, mark) => text.replace(mark, ""), markdown).trim();
