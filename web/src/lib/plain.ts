import { inAnswers } from "../words/codes";
import { withoutTags } from "./tags";

const LEAD = 24; // characters by which a notice is known
const notices = [...inAnswers.offline, ...inAnswers.offline_plain].map((notice) => notice.slice(0, LEAD));

const MARKS: readonly RegExp[] = [
  new RegExp(`[_*]?(?:${notices.join("|")})[\\s\\S]*$`), // what the page says elsewhere; a snippet can end within it
  /^[ \t]*(?:#{1,6}|>|[-*+]|\d{1,3}\.)[ \t]+/gm,
  /^[ \t]*(?:\|[ \t]*)?:?-{3,}:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/gm, // the line under a table's header
  /^[ \t]*\|[ \t]*|(?<![ \t])[ \t]*\|[ \t]*$/gm,
  /\*\*|__|~~|`+/g,
  /(?<![\p{L}\p{N}])[*_](?=\S)|(?<=\S)[*_](?![\p{L}\p{N}])/gu,
  /(?:(?<![ \t])[ \t]+)?\[\^?\d{1,3}\]/g,
];

/** The text of a piece of an answer, for a list: without the marks of Markdown and the numbers of citations. */
export const plain = (markdown: string): string => MARKS.reduce((text, mark) => text.replace(mark, ""), withoutTags(markdown)).replace(/(?<![ \t])[ \t]*\|[ \t]*/g, " · ").trim();
