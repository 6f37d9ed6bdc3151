import { describe, expect, it } from "vitest";
import { excerpt, indexOfCodePoint } from "./codepoints";

describe("indexOfCodePoint", () => {
  it.each([
    ["plain", "abc", 2, 2],
    ["an emoji is one character and two units", "a🏡b", 2, 3],
    ["combining marks count by themselves", "e\u0301x", 2, 2],
    ["a lone high surrogate is one", "\ud800x", 1, 1],
    ["a lone high surrogate at the end", "x\ud800", 2, 2],
    ["past the end", "ab", 9, 2],
    ["nothing", "", 3, 0],
  ])("%s", (_, text, n, want) => expect(indexOfCodePoint(text, n)).toBe(want));

  it("agrees with the iterator of strings at every position", () => {
    const text = "Ärger 🏡🧭 und\n𝔘nicode 💻.";
    const chars = [...text];
    for (let n = 0; n <= chars.length; n++) expect(indexOfCodePoint(text, n)).toBe(chars.slice(0, n).join("").length);
  });
});

describe("excerpt", () => {
  const text = "🌿 first line\nsecond 💻 line\nthird line";
  const quote = "second 💻 line";
  const start = [...text.slice(0, text.indexOf(quote))].length;
  const end = start + [...quote].length;

  it("extracts the quote by code points", () => {
    const got = excerpt(text, start, end, 1000);
    expect(got).toEqual({ before: "🌿 first line\n", quote, after: "\nthird line", moreBefore: false, moreAfter: false });
  });

  it("marks omissions, and never splits a character", () => {
    for (let around = 0; around < text.length; around++) {
      const got = excerpt(text, start, end, around);
      expect(got.quote).toBe(quote);
      expect(text).toContain(got.before + got.quote + got.after);
      expect(got.moreBefore).toBe(!text.startsWith(got.before + got.quote));
      expect(got.moreAfter).toBe(!text.endsWith(got.quote + got.after));
      expect((got.before + got.after).isWellFormed()).toBe(true);
    }
  });
});
