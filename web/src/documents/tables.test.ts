import { describe, expect, it } from "vitest";
import { blocksOf, headerBefore } from "./tables";

const shown = (text: string) => blocksOf(text).map(({ start, end, rows }) => (rows ? rows.map((cells) => cells.map((c) => text.slice(c.start, c.end))) : text.slice(start, end)));

describe("tables in a text", () => {
  it("are cut from the text around them, and keep empty cells", () => {
    expect(shown("Fees\n\nPlan | Setup | Monthly\nBasic |  | 20\n | 7 | 8\nTeam | 9 | \n\nAll in euros.")).toEqual([
      "Fees\n\n",
      [
        ["Plan", "Setup", "Monthly"],
        ["Basic", "", "20"],
        ["", "7", "8"],
        ["Team", "9", ""],
      ],
      "\nAll in euros.",
    ]);
  });

  it("may have bars at both ends, as in Markdown", () => {
    expect(shown("| Day | Guard |\n|---|:-:|\n| Mon | |\n| Tue | Ada |")).toEqual([
      [
        ["Day", "Guard"],
        ["Mon", ""],
        ["Tue", "Ada"],
      ],
    ]);
  });

  it("have two rows or more", () => {
    expect(shown("Use a | b to choose.\nThen go on.")).toEqual(["Use a | b to choose.\nThen go on."]);
    expect(shown("x || y\nlong|word\n")).toEqual(["x || y\nlong|word\n"]);
    expect(shown("")).toEqual([]);
  });

  it("cover the text without gaps", () => {
    const text = "a\nb | c\nd | e\n\nf | g\nh | i\nend";
    const blocks = blocksOf(text);
    expect(blocks.map((b) => text.slice(b.start, b.end)).join("")).toBe(text);
    expect(blocks.map((b) => b.rows?.length)).toEqual([undefined, 2, undefined, 2, undefined]);
  });

  it("have a header also where a part begins within them", () => {
    const text = "Prices\nItem | Price\nLamp | 30\nDesk | 90\n";
    expect(headerBefore(text, text.indexOf("Desk"))).toEqual(["Item", "Price"]);
    expect(headerBefore(text, text.indexOf("Item"))).toEqual([]);
    expect(headerBefore(text, 0)).toEqual([]);
  });
});
