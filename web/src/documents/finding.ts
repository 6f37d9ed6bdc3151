/** A match in a text, in UTF-16 units. */
export interface Match {
  start: number;
  end: number;
}

const MOST = 1_000; // maximum number of matches

/** Finds words in a text, ignoring case and the white space between them. */
export function found(text: string, search: string): Match[] {
  const words = search.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const pattern = new RegExp(words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+"), "giu");
  const out: Match[] = [];
  for (const m of text.matchAll(pattern)) {
    out.push({ start: m.index, end: m.index + m[0].length });
    if (out.length === MOST) break;
  }
  return out;
}

/** Splits a text at its matches. It ignores matches beyond its end. */
export function pieces(text: string, matches: readonly Match[]): { text: string; match?: number }[] {
  const out: { text: string; match?: number }[] = [];
  let from = 0;
  matches.forEach(({ start, end }, match) => {
    if (end > text.length) return;
    if (start > from) out.push({ text: text.slice(from, start) });
    out.push({ text: text.slice(start, end), match });
    from = end;
  });
  if (from < text.length) out.push({ text: text.slice(from) });
  return out;
}
