// The end of a text that still streams can look like something that it is not.

const RULE = /^\s*\|?[\s|:-]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Code and formulas of a line. */
const OTHER = /(`+|\${2}).*?(?:\1|$)/g;
/** Longest header without a bar at its start, in characters: a longer line is a sentence that contains a bar. */
const HEADER = 200;

const columns = (row: string): number => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).length;

/** Where the first bar between cells is; -1 if the line is no row. */
function barOf(line: string): number {
  const at = line.replace(OTHER, (other) => "`".repeat(other.length)).search(/(?<!\\)\|/);
  return line.length > HEADER && line.slice(0, at).trim() !== "" ? -1 : at;
}

/** A streaming block without a table whose first row is not complete: until its second line its header would be shown as text, and the first row decides how columns are set. The words before the header's first bar stay. */
export function holdTable(block: string): string {
  const lines = block.split("\n");
  const ended = lines.at(-1) === "";
  const last = lines.length - (ended ? 2 : 1);
  if (lines.filter((line) => FENCE.test(line)).length % 2 === 1) return block;
  const begin = lines.findLastIndex((line, i) => i <= last && (line.trim() === "" || FENCE.test(line))) + 1;
  const header = lines.findIndex((line, i) => i >= begin && i <= last && (i === last || RULE.test(lines[i + 1]!)) && barOf(line) >= 0);
  if (header < 0) return block;
  const rule = header < last ? lines[header + 1]! : undefined;
  const rows = last - header - 1;
  const isTable = rule !== undefined && rule.includes("-") && columns(rule) === columns(lines[header]!);
  const waits = isTable ? rows === 0 || (rows === 1 && !ended) : rule === undefined || (rows === 0 && !ended);
  return waits ? [...lines.slice(0, header), lines[header]!.slice(0, barOf(lines[header]!)).trimEnd()].join("\n") : block;
}
