import { describe, expect, it } from "vitest";
import { rendered, workOf } from "./bounds";

const table = (columns: number, rows: number, prefix = "") => `${prefix}${"|a".repeat(columns)}\n${prefix.replace(/\S/, " ")}${"|-".repeat(columns)}\n${"a|\n".repeat(rows)}`;

describe("what is too much for a browser", () => {
  it.each([
    ["a table of 90,000 cells in 2 kB", table(300, 300)],
    ["a table of 1.5 million cells in 8.5 kB", table(1500, 1000)],
    ["a narrow table with many rows", table(90, 400)],
    ["a table in a list", table(500, 500, "- ")],
    ["a table in a quote", table(500, 500).replace(/^/gm, "> ")],
    ["a table with alignments", table(300, 300).replaceAll("|-", "|:-:")],
    ["2,000 quotes in each other", ">".repeat(2000) + "a"],
    ["10,000 lists in each other", "- ".repeat(10_000)],
    ["numbered lists in each other", "1. ".repeat(1000)],
    ["lists by their indent", Array.from({ length: 60 }, (_, i) => `${"  ".repeat(i)}- a`).join("\n")],
    ["deep quotes with many lines", `${"> ".repeat(40)}${"a\n".repeat(10_000)}`],
    ["a table with many columns", table(150, 1)],
    ["a table with much emphasis", `|a|b|\n|-|-|\n${"|*a*|*b*|\n".repeat(1000)}`],
    ["many lines", "a\n".repeat(20_500)],
    ["deep emphasis", "*a ".repeat(3333) + "a* ".repeat(3333)],
    ["deep strong emphasis", "**a ".repeat(2500) + "a** ".repeat(2500)],
    ["emphasis over lines", "*a\n".repeat(2000)],
    ["open brackets", "[".repeat(20_000)],
    ["open pictures", "![".repeat(10_000)],
    ["one long block", "a ".repeat(30_000)],
  ])("%s", (_, block) => expect(workOf(block)).toBe(Infinity));

  it.each([
    ["a usual table", table(8, 300)],
    ["a wide table", table(60, 40)],
    ["a list of 1,000 items with bold words", "- **a** and `b`\n\n".repeat(1000)],
    ["quotes in quotes", "> > > a\n> > b\n"],
    ["code with deep indents", `\`\`\`\n${`${" ".repeat(60)}call(a_b, [1], [2]);\n`.repeat(300)}\`\`\``],
    ["snake_case_names", "some_long_name_here and ".repeat(1000)],
    ["prices and ranges", "1-2 * 3 - 4 > 5\n".repeat(500)],
    ["Arabic prose", "هذا نص عربي طويل. ".repeat(1500)],
    ["nothing", ""],
  ])("is not %s", (_, block) => expect(workOf(block)).toBeLessThan(Infinity));

  it("has a budget for the whole text", () => {
    for (const [block, fit] of [
      ["a ".repeat(12_000), 8], // by its characters
      ["a\n".repeat(9_000), 6], // by its lines
    ] as const) {
      expect(rendered(Array.from({ length: 10 }, () => block)).filter((shown) => shown)).toHaveLength(fit);
    }
    expect(rendered(["a", ">".repeat(2000), "b"])).toEqual([true, false, true]);
  });
});
