import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { headerIn, QuotedText, rowsOf } from "./QuotedText";

describe("a quoted row", () => {
  it.each([
    ["one row", "INV-2769 | 2026-11-03 | paid", [["INV-2769", "2026-11-03", "paid"]]],
    ["rows of Markdown", "| Ship | Fee |\n| --- | --- |\n| Boat | 20 |", [["Ship", "Fee"], ["Boat", "20"]]],
    ["an empty cell", "Desk |  | 90 euros", [["Desk", "", "90 euros"]]],
    ["a sentence", "The keeper winds the clock.", []],
    ["a sentence with a row below it", "Fees:\nBoat | 20\nFerry | 430", []],
  ])("%s", (_, quote, want) => expect(rowsOf(quote)).toEqual(want));

  it("has the header that the heading of its passage ends with", () => {
    expect(headerIn("Fees: of 2026: Ship | Fee | Paid", 3)).toEqual(["Ship", "Fee", "Paid"]);
    expect(headerIn("Fees 2026", 3)).toEqual([]);
    const html = renderToStaticMarkup(createElement(QuotedText, { quote: "Boat | 20 euros | monthly", heading: "Fees: Ship | Fee | Paid" }));
    expect(html).toMatch(/<th[^>]*>Fee<\/th>.*<td[^>]*>20 euros<\/td>/s);
  });
});
