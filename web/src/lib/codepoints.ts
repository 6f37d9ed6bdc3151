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
