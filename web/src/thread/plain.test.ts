import { expect, it } from "vitest";
import { plain } from "./Markdown";

it.each([
  ["stars and citations", "According to **lease-2024**: *18 percent* [1], [2].", "According to lease-2024: 18 percent."],
  ["blocks", "# Title\n\nWords.\n\n- **One** [1]\n- Two", "Title\nWords.\nOne\nTwo"],
  ["a table", "| A | B |\n| --- | --- |\n| 1 | `x` |", "A\nB\n1\nx"],
  ["links, pictures and code", "[here](https://e.org) ![a cat](/x.png)\n\n```js\nx = 1\n```", "here a cat\nx = 1"],
  ["HTML, which is shown as it is", "a <b>b</b>", "a <b>b</b>"],
])("%s", (_, markdown, want) => {
  expect(plain(markdown, 100)).toBe(want);
});

it("limits the length of its result", () => {
  expect(plain("Some **words**.\n\n".repeat(100_000), 20)).toBe("Some words.\nSome wor");
});
