import { describe, expect, it } from "vitest";
import { wordDiff } from "./diff";

const side = (pieces: ReturnType<typeof wordDiff>, without: string) =>
  pieces
    .filter((p) => p.change !== without)
    .map((p) => p.text)
    .join("");

describe("a diff of two texts", () => {
  it("is word by word", () => {
    const pieces = wordDiff("Churn rose by 3%.", "Churn rose by 4%.");
    expect(pieces.filter((p) => p.change !== "same").map((p) => [p.change, p.text])).toEqual([
      ["removed", "3"],
      ["added", "4"],
    ]);
  });

  it.each([
    ["one two three", "one three"],
    ["a\n\nb", "a\nb c"],
    ["", "new"],
    ["gone", ""],
    ["顧客は離れる", "顧客は戻る"],
    ["same", "same"],
  ])("contains both texts: %j, %j", (before, after) => {
    const pieces = wordDiff(before, after);
    expect(side(pieces, "added").replace(/\s+/g, " ").trim()).toBe(before.replace(/\s+/g, " "));
    expect(side(pieces, "removed")).toBe(after);
  });
});
