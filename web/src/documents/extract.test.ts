import { describe, expect, it } from "vitest";
import { moreAbove, moreBelow, partAround, placeOfQuote } from "./extract";

describe("the place of a quote", () => {
  const text = "🌿 first line\nsecond 💻 line\nthird line";
  const quote = "second 💻 line";
  const start = [...text.slice(0, text.indexOf(quote))].length;

  it("is found by code points", () => {
    const at = text.indexOf(quote);
    expect(placeOfQuote(text, { quote, start, end: start + [...quote].length })).toEqual({ start: at, end: at + quote.length });
  });

  it("is unknown when the text has changed, or the server gave no offsets", () => {
    expect(placeOfQuote(`x${text}`, { quote, start, end: start + [...quote].length })).toBeNull();
    expect(placeOfQuote(text, { quote })).toBeNull();
  });
});

describe("the part of a long text that is shown", () => {
  const line = "💻 a line of the text 💻\n";
  const text = line.repeat(20_000);
  const whole = (s: { start: number; end: number }) => text.slice(s.start, s.end);

  it("is all of a short text", () => expect(partAround(line)).toEqual({ start: 0, end: line.length }));

  it("is the beginning, or what is around a place, in whole lines", () => {
    expect(partAround(text)).toMatchObject({ start: 0 });
    const place = { start: 250_003, end: 250_010 };
    const part = partAround(text, place);
    expect(part.start).toBeGreaterThan(240_000);
    expect(part.start).toBeLessThan(place.start);
    expect(part.end).toBeGreaterThan(place.end);
    for (const p of [part, partAround(text)]) {
      expect(whole(p).startsWith("💻 a line")).toBe(true);
      expect(whole(p).isWellFormed()).toBe(true);
    }
  });

  it("grows to both ends of the text", () => {
    let part = partAround(text, { start: 250_003, end: 250_010 });
    for (let n = 0; n < 20; n++) part = moreBelow(text, moreAbove(text, part));
    expect(part).toEqual({ start: 0, end: text.length });
  });

  it("never splits a character of a text without lines", () => {
    const emoji = "💻".repeat(100_000);
    for (const at of [70_000, 70_001]) {
      const part = partAround(emoji, { start: at, end: at + 2 });
      expect(emoji.slice(part.start, part.end).isWellFormed()).toBe(true);
    }
  });
});
