// Models mark formulas with \( \), \[ \], $ $ or $$ $$. All of these become $$ before
// parsing, so that Markdown does not parse the content. Code does not change.

/** Fenced code, inline code, then formulas: the first match wins. */
const PIECES =
  /(^ {0,3}(`{3,64}|~{3,64})[^\n]*\n[^]*?(?:\n {0,3}\2[`~]* *(?=\n|$)|$(?![^])))|(?<!`)(`{1,64})(?!`)[^]*?[^`]\3(?!`)|\\\[([^]+?)\\\]|\\\(([^\n]+?)\\\)|\$\$([^$]+?)\$\$|(?<![\\$\w])\$(?=[^\s$])([^$\n]*?[^\s\\$])\$(?![\d$])/gm;

/** The longest text whose formulas are shown. */
const MAX_TEXT = 100_000;

/**
 * The code and the formulas of a text. Openers of formulas that do not end are masked, because the search for
 * their end would read the rest of the text for each of them.
 */
function piecesOf(text: string): RegExpExecArray[] {
  if (text.length > MAX_TEXT) return [];
  const lines = text.split("\n").map((line) => {
    const end = line.lastIndexOf("\\)") + 1;
    return line.slice(0, end) + line.slice(end).replaceAll("\\(", "  ");
  });
  const masked = lines.join("\n");
  const end = masked.lastIndexOf("\\]") + 1;
  return [...(masked.slice(0, end) + masked.slice(end).replaceAll("\\[", "  ")).matchAll(PIECES)];
}

/** Where an unfinished formula begins. It is hidden until it ends, because a part of it would render as something else. */
function openAt(text: string): number {
  const closed = Math.max(text.lastIndexOf("\\]"), text.lastIndexOf("$$"));
  const line = text.lastIndexOf("\n") + 1;
  const dollar = text.indexOf("$", Math.max(line, text.lastIndexOf("$")));
  const open = [text.startsWith("$$", closed) ? closed : text.indexOf("\\[", closed + 1), text.indexOf("\\(", line)];
  if (dollar >= 0 && !/[\\$\w]/.test(text[dollar - 1] ?? "") && /^[^\s$]/.test(text.slice(dollar + 1, dollar + 2)) && /[\\^_{]/.test(text.slice(dollar + 1))) open.push(dollar);
  return Math.min(...open.filter((at) => at >= 0), text.length);
}

/** Whether a text has a formula; a price is not one. */
export const hasMath = (text: string): boolean => /\$|\\[([]/.test(text) && piecesOf(text).some((m) => m.slice(4).some((tex) => tex !== undefined));

/** The blanks at the end of a text, if nothing else is on their line. */
function indentAt(text: string, end: number): string | undefined {
  let from = end;
  while (from > 0 && (text[from - 1] === " " || text[from - 1] === "\t")) from--;
  return from === 0 || text[from - 1] === "\n" ? text.slice(from, end) : undefined;
}

/** Puts a formula on its own lines and keeps its indent: it may be part of a list. */
function block(tex: string, indent: string): string {
  const lines = ["$$", ...tex.split("\n").map((l) => l.trim()).filter(Boolean), "$$"];
  return `\n\n${lines.map((l) => indent + l).join("\n")}\n\n`;
}

/** Puts the formulas of a text between $$; display formulas get their own lines. */
export function markMath(text: string, writing: boolean): string {
  let out = "";
  let from = 0;
  for (const m of piecesOf(text)) {
    const [found, fence, , ticks, brackets, parens, dollars, dollar] = m;
    out += text.slice(from, m.index);
    const whole = text.slice(m.index, m.index + found.length);
    const indent = indentAt(text, m.index);
    from = m.index + whole.length;
    if (fence !== undefined || ticks !== undefined) out += whole;
    else if (brackets !== undefined) out += block(whole.slice(2, -2), indent ?? "");
    else if (dollars !== undefined) out += (indent !== undefined && endsLine(text, from)) || dollars.includes("\n") ? block(whole.slice(2, -2), indent ?? "") : `$$${whole.slice(2, -2).trim()}$$`;
    else out += `$$${(parens === undefined ? dollar : whole.slice(2, -2))!.trim()}$$`;
  }
  const rest = text.slice(from);
  return out + (writing ? rest.slice(0, openAt(rest)) : rest);
}

/** Whether only blanks follow on the line. */
function endsLine(text: string, from: number): boolean {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at === text.length || text[at] === "\n";
}
