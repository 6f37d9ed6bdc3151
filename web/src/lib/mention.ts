export interface Mention {
  /** UTF-16 positions of "@query" in the text. */
  from: number;
  to: number;
  query: string;
}

const LONGEST = 60;

/** The "@query" that the caret stands at the end of, if any; an @ inside a word, as in an address, is none. */
export function mentionAt(text: string, caret: number): Mention | null {
  const from = text.lastIndexOf("@", caret - 1);
  if (from < 0 || caret - from > LONGEST) return null;
  if (from > 0 && !/[\s(,;:"']/.test(text[from - 1]!)) return null;
  const query = text.slice(from + 1, caret);
  if (query.includes("\n") || query.startsWith(" ")) return null;
  return { from, to: caret, query };
}

export interface Tag {
  kind: "document" | "set";
  id: string;
  title: string;
}

/** Tags whose title holds every word of the query; titles that begin with it come first. */
export function matching(tags: readonly Tag[], query: string, max = 8): Tag[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = tags.filter((t) => words.every((w) => t.title.toLowerCase().includes(w)));
  const start = query.trim().toLowerCase();
  const rank = (t: Tag) => (t.title.toLowerCase().startsWith(start) ? 0 : 1);
  return hits.sort((a, b) => rank(a) - rank(b)).slice(0, max);
}
