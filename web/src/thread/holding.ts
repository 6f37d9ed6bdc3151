// The end of a text that still streams can look like something that it is not.

const ROW = /^\s*\|/;
const RULE = /^\s*\|?[\s|:-]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

const columns = (row: string): number => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).length;

/** A streaming block without the header of a table whose second line is not there yet: it would be shown as text. */
export function holdTable(block: string): string {
  const lines = block.split("\n");
  const last = lines.length - 1;
  if (lines.filter((line) => FENCE.test(line)).length % 2 === 1) return block;
  const header = ROW.test(lines[last]!) ? (RULE.test(lines[last]!) && last > 0 && ROW.test(lines[last - 1]!) ? last - 1 : last) : lines[last] === "" && last > 0 && ROW.test(lines[last - 1]!) ? last - 1 : -1;
  if (header < 0 || (header > 0 && ROW.test(lines[header - 1]!))) return block;
  const rule = lines[header + 1];
  if (rule && RULE.test(rule) && rule.includes("-") && columns(rule) === columns(lines[header]!)) return block;
  return lines.slice(0, header).join("\n");
}
