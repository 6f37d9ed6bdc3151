// Finds tables in the text of a document. A row is a line with bars between its cells, as
// documents/layout in the server reads it, and as Markdown writes it.

/** A range of a text, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/** A part of a text: a table if it has rows. A block ends after the line break of its last line. */
export interface Block extends Span {
  /** The cells of each row. */
  rows?: Span[][];
}

const BAR = " | ";
const SEPARATOR = /^\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*$/; // the line below a header in Markdown

/** Whether a cell stays on one line: a date or a number with its unit would break at a hyphen. */
export const isShortCell = (characters: number): boolean => characters <= 10;

const NUMBER = /^[(~≈<>≤≥±]?\s?(?:\p{Sc}|[A-Z]{3}(?=[\s\d]))?\s?[-+−–±]?\s?(?:\p{Sc}\s?)?(?:\d{1,3}(?:[.,'’\s]\d{3})+|\d+)(?:[.,]\d+)?\s?(?:%|‰|\p{Sc}|°?\p{L}{1,3}\p{No}?)?\)?$/u;

/** Whether a cell is one number, with its sign, currency or unit. A date is none. */
export const isNumber = (cell: string): boolean => NUMBER.test(cell.trim());

const hasBar = (line: string) => line.includes(BAR) || line.trimStart().startsWith("|");

/** Cuts a text into tables and what is between them. A table has two rows or more. */
export function blocksOf(text: string): Block[] {
  const out: Block[] = [];
  let rows: Span[] = [];
  let prose = 0; // where the text after the last table begins
  const end = (at: number) => {
    if (rows.length > 1) {
      if (rows[0]!.start > prose) out.push({ start: prose, end: rows[0]!.start });
      const drawn = rows.filter((r) => !SEPARATOR.test(text.slice(r.start, r.end)));
      out.push({ start: rows[0]!.start, end: at, rows: drawn.map((r) => cellsOf(text, r)) });
      prose = at;
    }
    rows = [];
  };
  for (let start = 0; start < text.length; ) {
    const line = text.indexOf("\n", start);
    const stop = line < 0 ? text.length : line;
    if (hasBar(text.slice(start, stop))) rows.push({ start, end: stop });
    else end(start);
    start = stop + 1;
  }
  end(text.length);
  if (prose < text.length) out.push({ start: prose, end: text.length });
  return out;
}

/** The cells of a row, without the white space around them. */
export function cellsOf(text: string, { start, end }: Span): Span[] {
  const line = text.slice(start, end);
  const framed = /^\s*\|.*\|\s*$/.test(line); // Markdown with bars at both ends
  const bars: Span[] = [];
  for (const m of line.matchAll(/(?:^|\s)\|(?=\s|$)|^\s*\||\|\s*$/g)) bars.push({ start: start + m.index, end: start + m.index + m[0].length });
  const cells: Span[] = [];
  let from = start;
  for (const bar of [...bars, { start: end, end }]) {
    cells.push(trimmed(text, from, Math.max(from, bar.start)));
    from = bar.end;
  }
  return framed ? cells.slice(1, -1) : cells;
}

function trimmed(text: string, start: number, end: number): Span {
  const part = text.slice(start, end);
  const left = part.length - part.trimStart().length;
  return left === part.length ? { start, end: start } : { start: start + left, end: start + part.trimEnd().length };
}

/** The cells of the first row of the table within which a text is cut at a line; none if it is not cut within one. */
export function headerBefore(text: string, at: number): string[] {
  let first = -1;
  for (let end = at - 1; end > 0; ) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    if (!hasBar(text.slice(start, end))) break;
    first = start;
    end = start - 1;
  }
  if (first < 0) return [];
  const line = text.indexOf("\n", first);
  return cellsOf(text, { start: first, end: line < 0 ? text.length : line }).map((c) => text.slice(c.start, c.end));
}
