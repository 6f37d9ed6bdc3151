import { describe, expect, it } from "vitest";
import { found, pieces } from "./finding";

describe("searching inside a document", () => {
  it.each([
    ["Leave and LEAVE", "leave", [[0, 5], [10, 15]]],
    ["annual\n leave", "annual leave", [[0, 13]]],
    ["a.b a+b", "a.b", [[0, 3]]],
    ["Stra\u00dfe \ud83d\ude00 x", "x", [[10, 11]]],
    ["nothing", "  ", []],
    ["nothing", "some", []],
  ])("%j has %j", (text, search, want) => expect(found(text, search).map((m) => [m.start, m.end])).toEqual(want));

  it("finds at most 1,000 matches", () => expect(found("a".repeat(5_000), "a")).toHaveLength(1_000));

  it("splits a text at its matches, without losing any of it", () => {
    const text = "one two one";
    const cut = pieces(text, found(text, "one"));
    expect(cut).toEqual([{ text: "one", match: 0 }, { text: " two " }, { text: "one", match: 1 }]);
    expect(pieces(text.slice(0, 9), found(text, "one")).map((p) => p.text).join("")).toBe("one two o");
  });
});
