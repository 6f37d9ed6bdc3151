// Finds quotes and words in the text of a PDF's pages. pdf.js gives a page as items,
// each a piece of text that is drawn in one step.

import { found } from "../finding";

export interface Item {
  str: string;
  /** Whether the item ends its line. */
  hasEOL?: boolean;
}

/** A part of an item, in UTF-16 units. */
export interface Range {
  item: number;
  start: number;
  end: number;
}

/** A match: its ranges by page index. The index counts the searched pages from 0. */
export type PageRanges = Map<number, Range[]>;

const LETTER = /[\p{L}\p{N}]/u;
const PART = 24; // letters to search the beginning and the end of a quote with

/** The letters and digits of pages, and the position of each. */
interface Letters {
  text: string;
  at: { page: number; item: number; start: number; end: number }[];
}

/** Omits white space, hyphens and punctuation, because the server's text differs from the page there. */
function lettersOf(pages: readonly (readonly Item[])[]): Letters {
  let text = "";
  const at: Letters["at"] = [];
  pages.forEach((items, page) =>
    items.forEach(({ str }, item) => {
      let start = 0;
      for (const char of str) {
        const end = start + char.length;
        for (const c of plain(char)) {
          text += c;
          for (let unit = 0; unit < c.length; unit++) at.push({ page, item, start, end });
        }
        start = end;
      }
    }),
  );
  return { text, at };
}

/** The lower-case letters and digits of a text; a ligature becomes its letters. */
const plain = (s: string): string[] => [...s.normalize("NFKC").toLowerCase()].filter((c) => LETTER.test(c));

/** Finds a quote on consecutive pages, or else its beginning and its end; null if neither is there. */
export function quoteIn(pages: readonly (readonly Item[])[], quote: string): PageRanges | null {
  const letters = lettersOf(pages);
  const wanted = plain(quote).join("");
  if (!wanted) return null;
  const whole = letters.text.indexOf(wanted);
  if (whole >= 0) return rangesOf(letters, whole, whole + wanted.length);
  // If a quote continues on the next page, a footer may be between its two parts.
  if (wanted.length < 2 * PART) return null;
  const begin = letters.text.indexOf(wanted.slice(0, PART));
  const end = letters.text.lastIndexOf(wanted.slice(-PART));
  if (begin < 0 && end < 0) return null;
  const out: PageRanges = new Map();
  if (begin >= 0) add(out, rangesOf(letters, begin, begin + longest(letters.text.slice(begin), wanted)));
  if (end >= 0) {
    const last = end + PART;
    add(out, rangesOf(letters, last - longestEnd(letters.text.slice(0, last), wanted), last));
  }
  return out;
}

/** The length of the longest common beginning. */
function longest(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function longestEnd(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[a.length - 1 - n] === b[b.length - 1 - n]) n++;
  return n;
}

function add(to: PageRanges, more: PageRanges): void {
  for (const [page, ranges] of more) to.set(page, [...(to.get(page) ?? []), ...ranges]);
}

function rangesOf({ at }: Letters, from: number, to: number): PageRanges {
  const out: PageRanges = new Map();
  for (const { page, item, start, end } of at.slice(from, to)) {
    const ranges = out.get(page) ?? [];
    const last = ranges.at(-1);
    if (last?.item === item) last.end = end;
    else out.set(page, [...ranges, { item, start, end }]);
  }
  return out;
}

/** Finds words on a page, ignoring case and the white space between them. */
export function wordsIn(items: readonly Item[], search: string): Range[][] {
  const begins: number[] = [];
  let text = "";
  for (const { str, hasEOL } of items) {
    begins.push(text.length);
    text += hasEOL ? `${str}\n` : str;
  }
  return found(text, search).map(({ start, end }) =>
    items.flatMap(({ str }, item) => {
      const from = Math.max(start - begins[item]!, 0);
      const to = Math.min(end - begins[item]!, str.length);
      return from < to ? [{ item, start: from, end: to }] : [];
    }),
  );
}

/** Splits an item's text at ranges, which are merged where they overlap. */
export function marked(str: string, ranges: readonly Range[]): { text: string; mark: boolean }[] {
  const out: { text: string; mark: boolean }[] = [];
  let from = 0;
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    if (end <= from) continue;
    if (start > from) out.push({ text: str.slice(from, start), mark: false });
    out.push({ text: str.slice(Math.max(start, from), end), mark: true });
    from = end;
  }
  if (from < str.length) out.push({ text: str.slice(from), mark: false });
  return out;
}
