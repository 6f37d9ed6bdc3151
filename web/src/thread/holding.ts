// The end of a text that still streams can look like something that it is not.

const ROW = /^\s*\|/;
const RULE = /^\s*\|?[\s|:-]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

const columns = (row: string): number => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).length;

/** A streaming block without a table whose first row is not complete: until its second line its header would be shown as text, and the first row decides how columns are set. */
export function holdTable(block: string): string {
  const lines = block.split("\n");
  const ended = lines.at(-1) === "";
  const last = lines.length - (ended ? 2 : 1);
  if (!ROW.test(lines[last] ?? "") || lines.filter((line) => FENCE.test(line)).length % 2 === 1) return block;
  let header = last;
  while (header > 0 && ROW.test(lines[header - 1]!)) header--;
  const rule = header < last ? lines[header + 1]! : undefined;
  const rows = last - header - 1;
  const isTable = rule !== undefined && RULE.test(rule) && rule.includes("-") && columns(rule) === columns(lines[header]!);
  const waits = isTable ? rows === 0 || (rows === 1 && !ended) : rule === undefined || (rows === 0 && !ended && RULE.test(rule));
  return waits ? lines.slice(0, header).join("\n") : block;
}
