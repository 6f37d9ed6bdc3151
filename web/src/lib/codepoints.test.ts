import { describe, expect, it } from "vitest";
import { indexOfCodePoint } from "./codepoints";

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
