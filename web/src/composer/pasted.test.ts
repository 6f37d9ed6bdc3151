import { describe, expect, it } from "vitest";
import { pastedFile, titleIn } from "./pasted";

describe("the title of a pasted text", () => {
  it.each([
    ["its first line", "Minutes of the harbour\nThe keeper speaks at length.", "Minutes of the harbour"],
    ["its heading, without its marks", "\n\n## **Rules** of the quay ##\n\nShips pay.", "Rules of the quay"],
    ["a heading that is a question", "# Who owns the lamp?\n\nThe keeper.", "Who owns the lamp?"],
    ["none for a sentence", "The quick brown contract clause number N states that the supplier pays.\nMore.", ""],
    ["none for a long line", "word ".repeat(40), ""],
    ["none for code", '{"a": 1}\n', ""],
    ["none for a table", "Ship\tFee\nBoat\t20", ""],
    ["none for nothing", " \n ", ""],
  ])("is %s", (_, text, want) => expect(titleIn(text)).toBe(want));

  it("says when it was pasted if the text has no title", () => {
    const { file, title } = pastedFile("the supplier pays. ".repeat(9), new Date(2026, 10, 25, 22, 12));
    expect(title).toMatch(/^Pasted text, .*Nov.*12/);
    expect(file.name).not.toContain(":");
  });
});
