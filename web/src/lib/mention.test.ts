import { describe, expect, it } from "vitest";
import { matching, mentionAt, type Tag } from "./mention";

describe("mentionAt", () => {
  it.each([
    ["at the start", "@pol", { from: 0, to: 4, query: "pol" }],
    ["after a word", "see @pol", { from: 4, to: 8, query: "pol" }],
    ["just the sign", "see @", { from: 4, to: 5, query: "" }],
    ["a query of words", "see @remote work", { from: 4, to: 16, query: "remote work" }],
    ["in brackets", "(@a", { from: 1, to: 3, query: "a" }],
    ["an address is none", "me@example.org", null],
    ["a line break ends it", "@a\nb", null],
    ["a space at once ends it", "@ a", null],
    ["a long text behind it ends it", `@${"x".repeat(60)}`, null],
    ["none", "hello", null],
    ["empty", "", null],
  ])("%s", (_, text, want) => expect(mentionAt(text, text.length)).toEqual(want));

  it("looks only before the caret", () => expect(mentionAt("@ab later", 2)).toEqual({ from: 0, to: 2, query: "a" }));
});

describe("matching", () => {
  const tags: Tag[] = ["Annual policy", "Policy 2026", "Contract"].map((title, i) => ({ kind: "document", id: String(i), title }));
  const titles = (q: string, max?: number) => matching(tags, q, max).map((t) => t.title);
  it("puts titles that begin with the query first", () => expect(titles("pol")).toEqual(["Policy 2026", "Annual policy"]));
  it("wants every word", () => expect(titles("policy annual")).toEqual(["Annual policy"]));
  it("offers all for nothing typed, up to a limit", () => expect(titles("", 2)).toHaveLength(2));
});
