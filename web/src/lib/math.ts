// Models mark formulas with \( \), \[ \], $ $ or $$ $$. All of these become $$ before
// parsing, so that Markdown does not parse the content. Code does not change.

/** Fenced code, inline code, then formulas: the first match wins. */
const PIECES =
  /(^ {0,3}(`{3,}|~{3,})[^\n]*\n[^]*?(?:\n {0,3}\2[`~]* *(?=\n|$)|$(?![^])))|(`+)(?!`)[^]*?[^`]\3(?!`)|\\\[([^]+?)\\\]|\\\(([^\n]+?)\\\)|\$\$([^$]+?)\$\$|(?<![\\$\w])\$(?=[^\s$])([^$\n]*?[^\s\\$])\$(?![\d$])/gm;

/** An unfinished formula. It is hidden until it ends, because a part of it would render as something else. */
const OPEN = /(?:\\\[|\$\$)(?![^]*(?:\\\]|\$\$))[^]*$|\\\([^\n]*$|(?<![\\$\w])\$(?=[^\s$])[^$\n]*[\\^_{][^$\n]*$/;

/** Whether a text has a formula; a price is not one. */
export const hasMath = (text: string): boolean => /\$|\\[([]/.test(text) && [...text.matchAll(PIECES)].some((m) => m.slice(4).some((tex) => tex !== undefined));

/** Puts a formula on its own lines and keeps its indent: it may be part of a list. */
function block(tex: string, before: string): string {
  const indent = /(?:^|\n)([ \t]*)$/.exec(before)?.[1] ?? "";
  const lines = ["$$", ...tex.split("\n").map((l) => l.trim()).filter(Boolean), "$$"];
  return `\n\n${lines.map((l) => indent + l).join("\n")}\n\n`;
}

/** Puts the formulas of a text between $$; display formulas get their own lines. */
export function markMath(text: string, writing: boolean): string {
  let out = "";
  let from = 0;
  for (const m of text.matchAll(PIECES)) {
    const [whole, fence, , ticks, brackets, parens, dollars, dollar] = m;
    out += text.slice(from, m.index);
    from = m.index + whole.length;
    if (fence !== undefined || ticks !== undefined) out += whole;
    else if (brackets !== undefined) out += block(brackets, out);
    else if (dollars !== undefined) out += alone(text, m.index, from) || dollars.includes("\n") ? block(dollars, out) : `$$${dollars.trim()}$$`;
    else out += `$$${(parens ?? dollar)!.trim()}$$`;
  }
  const rest = text.slice(from);
  return out + (writing ? rest.replace(OPEN, "") : rest);
}

/** Whether the formula is alone on its lines. */
const alone = (text: string, start: number, end: number): boolean => /(?:^|\n)[ \t]*$/.test(text.slice(0, start)) && /^[ \t]*(?:\n|$)/.test(text.slice(end));
