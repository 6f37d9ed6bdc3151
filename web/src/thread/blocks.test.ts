import { expect, it } from "vitest";
import { blocksOf } from "./blocks";

it.each([
  ["paragraphs", "a\n\nb", ["a\n", "b"]],
  ["a fence with blank lines is one", "```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```\n", "c"]],
  ["a fence that is not closed yet", "a\n\n```js\nx\n\ny", ["a\n", "```js\nx\n\ny"]],
  ["a longer fence holds a shorter one", "````\n```\n\nx\n````\n\ny", ["````\n```\n\nx\n````\n", "y"]],
  ["a loose list is one", "1. a\n\n2. b\n\n   more\n\nend", ["1. a\n\n2. b\n\n   more\n", "end"]],
  ["a table", "a\n\n|x|\n|-|\n|1|\n\nb", ["a\n", "|x|\n|-|\n|1|\n", "b"]],
  ["a text with link definitions is one block", "[x]\n\n[x]: https://e.org\n\nb", ["[x]\n\n[x]: https://e.org\n\nb"]],
  ["details with paragraphs", "a\n\n<details>\n<summary>S</summary>\n\nb\n\nc\n\n</details>\n\nd", ["a\n", "<details>\n<summary>S</summary>\n\nb\n\nc\n\n</details>\n", "d"]],
  ["nothing", "", [""]],
])("%s", (_, text, want) => {
  expect(blocksOf(text)).toEqual(want);
  expect(blocksOf(text).join("\n")).toBe(text);
});

it("does not change the blocks before the last while a text grows", () => {
  const text = "# One\n\nTwo *three*.\n\n- a\n- b\n\n```\ncode\n\nmore\n```\n\nLast words.";
  let before: string[] = [];
  for (let n = 0; n <= text.length; n++) {
    const blocks = blocksOf(text.slice(0, n));
    expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    before = blocks;
  }
});
