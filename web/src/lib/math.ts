// How models mark mathematics: \( \), \[ \], $ $ and $$ $$. All of it becomes $$ before
// parsing, so that markdown reads none of what stands between; code stays as it is.

/** Fenced code, code in a line, then mathematics: what comes first counts. */
const PIECES =
  /(^ {0,3}(`{3,}|~{3,})[^\n]*\n[^]*?(?:\n {0,3}\2[`~]* *(?=\n|$)|$(?![^])))|(`+)(?!`)[^]*?[^`]\3(?!`)|\\\[([^]+?)\\\]|\\\(([^\n]+?)\\\)|\$\$([^$]+?)\$\$|(?<![\\$\w])\$(?=[^\s$])([^$\n]*?[^\s\\$])\$(?![\d$])/gm;

/** What has begun and may be mathematics: it is not shown until it ends, for half of it reads as something else. */
const OPEN = /(?:\\\[|\$\$)(?![^]*(?:\\\]|\$\$))[^]*$|\\\([^\n]*$|(?<![\\$\w])\$(?=[^\s$])[^$\n]*[\\^_{][^$\n]*$/;

/** Whether there is mathematics in a text: a price is none. */
export const hasMath = (text: string): boolean => /\$|\\[([]/.test(text) && [...text.matchAll(PIECES)].some((m) => m.slice(4).some((tex) => tex !== undefined));

/** In lines of its own, as far from the margin as it stood: it may be part of a list. */
function block(tex: string, before: string): string {
  const indent = /(?:^|\n)([ \t]*)$/.exec(before)?.[1] ?? "";
  const lines = ["$$", ...tex.split("\n").map((l) => l.trim()).filter(Boolean), "$$"];
  return `\n\n${lines.map((l) => indent + l).join("\n")}\n\n`;
}

/** A text whose mathematics stands between $$: in lines of their own what is to be set by itself. */
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

/** Whether nothing else stands in its lines. */
const alone = (text: string, start: number, end: number): boolean => /(?:^|\n)[ \t]*$/.test(text.slice(0, start)) && /^[ \t]*(?:\n|$)/.test(text.slice(end));
