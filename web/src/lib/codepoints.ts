/**
 * The UTF-16 index of the n-th code point. The server counts characters as
 * code points; JavaScript strings count UTF-16 units, where an emoji is two.
 * An n past the end gives the length.
 */
export function indexOfCodePoint(text: string, n: number, from = 0): number {
  let i = from;
  for (let left = n; left > 0 && i < text.length; left--) {
    const c = text.charCodeAt(i);
    const pair = c >= 0xd800 && c <= 0xdbff && i + 1 < text.length && isLow(text.charCodeAt(i + 1));
    i += pair ? 2 : 1;
  }
  return i;
}

const isLow = (c: number): boolean => c >= 0xdc00 && c <= 0xdfff;

export interface Excerpt {
  before: string;
  quote: string;
  after: string;
  /** Whether text was left out at that side. */
  moreBefore: boolean;
  moreAfter: boolean;
}

/** The text around the code points from start to end: at most `around` UTF-16 units on each side, cut at a line break if one is near. */
export function excerpt(text: string, start: number, end: number, around: number): Excerpt {
  const from = indexOfCodePoint(text, start);
  const to = indexOfCodePoint(text, Math.max(0, end - start), from);
  let left = Math.max(0, from - around);
  let right = Math.min(text.length, to + around);
  if (left > 0) {
    const line = text.indexOf("\n", left);
    if (line >= 0 && line < from) left = line + 1;
    else if (isLow(text.charCodeAt(left))) left++;
  }
  if (right < text.length) {
    const line = text.lastIndexOf("\n", right);
    if (line > to) right = line;
    else if (isLow(text.charCodeAt(right))) right--;
  }
  return {
    before: text.slice(left, from),
    quote: text.slice(from, to),
    after: text.slice(to, right),
    moreBefore: left > 0,
    moreAfter: right < text.length,
  };
}
