// The text of an answer, a document or a shared conversation is untrusted. A few kilobytes of Markdown can
// make millions of table cells, or nest too deeply for the browser. Such blocks are shown as they were written.

/** Limits of a block. */
const MAX = { characters: 50_000, nesting: 50, columns: 100, cells: 20_000, marks: 1_000, marksOfTable: 3_000, work: 20_000 };
/** Limits of a whole text. */
const ALL = { characters: 200_000, work: 60_000 };

/** The longest text that is parsed at once. */
export const MAX_PARSED = MAX.characters;

/** The levels of indent, and the quotes and lists that a line opens. */
function nestingOf(line: string): { indent: number; opens: number } {
  let at = 0;
  let columns = 0;
  let opens = 0;
  for (; at < line.length; at++) {
    const c = line[at]!;
    if (c === " ") columns++;
    else if (c === "\t") columns += 4;
    else if (c === ">") opens++;
    else {
      let end = at;
      while (end - at < 9 && line[end]! >= "0" && line[end]! <= "9") end++;
      const marks = end > at ? line[end] === "." || line[end] === ")" : c === "-" || c === "*" || c === "+";
      const next = line[end + 1];
      if (!marks || (next !== undefined && next !== " " && next !== "\t")) break;
      opens++;
      at = end;
    }
  }
  return { indent: columns >> 1, opens };
}

/** The columns of the line below a table's header; 0 for other lines. */
function columnsOf(line: string): number {
  let columns = 0;
  let dash = false;
  for (const c of line) {
    if (c === "|") columns++;
    else if (c === "-") dash = true;
    else if (c !== ":" && c !== " " && c !== "\t" && c !== ">" && c !== "\r") return 0;
  }
  return dash && columns > 0 ? columns + 1 : 0;
}

/** The brackets, and the runs of emphasis marks, of a line. Marks within a word_like_this are none. */
function marksOf(line: string): number {
  return line.match(/[*~]+|\[|(?<![\p{L}\p{N}_])_+|(?<!_)_+(?![\p{L}\p{N}_])/gu)?.length ?? 0;
}

/** The work of rendering a block of Markdown, in lines; Infinity if it is too much. */
export function workOf(block: string): number {
  if (block.length > MAX.characters) return Infinity;
  let work = 0;
  let cells = 0;
  let columns = 0; // of the open table
  let marks = 0; // since the last blank line, as the next two
  let deep = 0;
  for (const line of block.split("\n")) {
    if (line.trim() === "") {
      columns = marks = deep = 0;
      work++;
      continue;
    }
    const { indent, opens } = nestingOf(line);
    if (opens > 0 && indent + opens > MAX.nesting) return Infinity;
    deep = Math.max(deep, indent + opens);
    work += 1 + deep;
    columns = Math.max(columns, columnsOf(line));
    cells += columns;
    marks += marksOf(line);
    if (columns > MAX.columns || cells > MAX.cells || marks > (columns > 0 ? MAX.marksOfTable : MAX.marks) || work > MAX.work) return Infinity;
  }
  return work;
}

/** For each block of a text, whether it is rendered. The others are shown as they were written. */
export function rendered(blocks: readonly string[]): boolean[] {
  let characters = 0;
  let work = 0;
  return blocks.map((block) => {
    const needs = workOf(block);
    if (needs === Infinity || characters + block.length > ALL.characters || work + needs > ALL.work) return false;
    characters += block.length;
    work += needs;
    return true;
  });
}
