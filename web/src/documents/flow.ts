// The text of a PDF has a line break at the end of each line of its page. In a column of
// another width such lines break twice.

const STARTS = /^\s*(?:[-–—•·▪◦*‣]|\(?[\p{L}\d]{1,4}[.)]|#{1,6}|\d+(?:\.\d+)+|\[\d+\])\s/u; // an item of a list, a clause or a heading
const SHORT = 0.7; // a line shorter than this share of the longest near it ends its paragraph
const NEAR = 8; // lines above and below that count as near
const BAR = " | "; // between the cells of a table

/**
 * Joins the lines of each paragraph: their line breaks become spaces. The text keeps its
 * length, so offsets stay right. A break stays at a blank line, after a short line, before an
 * item of a list or a heading, and in tables.
 */
export function flowing(text: string): string {
  const lines = text.split("\n");
  const lengths = lines.map((l) => l.trimEnd().length);
  let out = lines[0] ?? "";
  for (let i = 1; i < lines.length; i++) out += (joins(lines, lengths, i) ? " " : "\n") + lines[i]!;
  return out;
}

/** Whether line i continues the line above it. */
function joins(lines: readonly string[], lengths: readonly number[], i: number): boolean {
  const [above, line] = [lines[i - 1]!, lines[i]!];
  if (!above.trim() || !line.trim() || STARTS.test(line) || /^\s*#{1,6} /.test(above)) return false;
  if (above.includes(BAR) || line.includes(BAR)) return false;
  let longest = 0;
  for (let k = Math.max(0, i - NEAR); k < Math.min(lines.length, i + NEAR); k++) longest = Math.max(longest, lengths[k]!);
  return lengths[i - 1]! >= SHORT * longest;
}
