import { diffWords } from "diff";

export interface Piece {
  text: string;
  change: "same" | "removed" | "added";
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" }); // also splits languages without spaces between words

/** The difference of two texts, word by word. */
export const wordDiff = (before: string, after: string): Piece[] =>
  diffWords(before, after, { intlSegmenter: segmenter }).map((c) => ({ text: c.value, change: c.added ? "added" : c.removed ? "removed" : "same" }));
