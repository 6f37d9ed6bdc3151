// The part of a long text that is shown. All positions are in UTF-16 units.

import { indexOfCodePoint } from "../lib/codepoints";
import type { Span } from "./tables";

const FIRST = 60_000; // shown from the beginning, and added by each "Show more"
const AROUND = 6_000; // shown before and after a place in the text

const isLow = (c: number): boolean => c >= 0xdc00 && c <= 0xdfff;

/** Moves an end of a part to a line break, if there is one before the limit, so that no character is split. */
function begin(text: string, at: number, limit: number): number {
  if (at <= 0) return 0;
  const line = text.indexOf("\n", at);
  if (line >= 0 && line < limit) return line + 1;
  return isLow(text.charCodeAt(at)) ? at + 1 : at;
}

function finish(text: string, at: number, limit: number): number {
  if (at >= text.length) return text.length;
  const line = text.lastIndexOf("\n", at);
  if (line > limit) return line;
  return isLow(text.charCodeAt(at)) ? at - 1 : at;
}

/** The part around a place, or the beginning of the text. */
export function partAround(text: string, place?: Span): Span {
  if (!place || place.end < FIRST) return { start: 0, end: finish(text, Math.max(FIRST, (place?.end ?? 0) + AROUND), place?.end ?? 0) };
  return { start: begin(text, place.start - AROUND, place.start), end: finish(text, place.end + AROUND, place.end) };
}

/** A part with more text before it. */
export const moreAbove = (text: string, { start, end }: Span): Span => ({ start: begin(text, start - FIRST, start), end });

/** A part with more text after it. */
export const moreBelow = (text: string, { start, end }: Span): Span => ({ start, end: finish(text, end + FIRST, end) });

/** Where a quote stands that the server gives by code points; null if the text has other words there. */
export function placeOfQuote(text: string, { quote, start, end }: { quote: string; start?: number; end?: number }): Span | null {
  if (start === undefined || end === undefined) return null;
  const from = indexOfCodePoint(text, start);
  const to = indexOfCodePoint(text, Math.max(0, end - start), from);
  return text.slice(from, to) === quote ? { start: from, end: to } : null;
}
