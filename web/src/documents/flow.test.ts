import { describe, expect, it } from "vitest";
import { flowing } from "./flow";

describe("the text of a PDF", () => {
  it.each([
    ["joins the lines of a paragraph", "The keeper lights the lamp at seven in the\nevening and winds the clock twice a day. In\nfog the keeper rings the bell.", "The keeper lights the lamp at seven in the evening and winds the clock twice a day. In fog the keeper rings the bell."],
    ["keeps blank lines", "The keeper lights the lamp\n\nThe keeper winds the clock", "The keeper lights the lamp\n\nThe keeper winds the clock"],
    ["keeps the break after a short line", "Rules of the quay\nThe harbour office keeps a register of every ship that lies\nat the quay.", "Rules of the quay\nThe harbour office keeps a register of every ship that lies at the quay."],
    ["keeps items of a list and clauses apart", "The tenant pays the following amounts:\n- the rent of the whole apartment, and\n4.2 Costs of heating are paid in advance\n(a) by the tenant", "The tenant pays the following amounts:\n- the rent of the whole apartment, and\n4.2 Costs of heating are paid in advance\n(a) by the tenant"],
    ["keeps the rows of a table", "Ship | Fee\nBoat | 20 euros\nFerry | 430 euros", "Ship | Fee\nBoat | 20 euros\nFerry | 430 euros"],
    ["keeps a heading apart", "## Rules of the inner basin of the harbour\nShips pay their dues on the first day of each\nmonth.", "## Rules of the inner basin of the harbour\nShips pay their dues on the first day of each month."],
    ["is empty when there is none", "", ""],
  ])("%s", (_, text, want) => expect(flowing(text)).toBe(want));

  it("keeps every other character in its place", () => {
    const text = "one two three four five\nsix 🏡 seven\n\n\neight\tnine\n";
    expect(flowing(text)).toHaveLength(text.length);
    expect(flowing(text).replaceAll(" ", "\n")).toBe(text.replaceAll(" ", "\n"));
  });
});
