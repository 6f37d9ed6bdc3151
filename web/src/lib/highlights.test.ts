import { renderToStaticMarkup } from "react-dom/server";
import { createElement } from "react";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { describe, expect, it } from "vitest";
import { highlight, remarkHighlights } from "./highlights";

/** The HTML of a Markdown text, of which the words between « and » are marked. */
function drawn(source: string, current = 0): string {
  const ranges: { start: number; end: number }[] = [];
  let text = "";
  for (const piece of source.split(/([«»])/)) {
    if (piece === "«") ranges.push({ start: text.length, end: 0 });
    else if (piece === "»") ranges.at(-1)!.end = text.length;
    else text += piece;
  }
  return renderToStaticMarkup(createElement(ReactMarkdown, { remarkPlugins: [remarkGfm, remarkHighlights], children: highlight(text, ranges, current) }));
}
const NOW = '<mark data-current="">';

describe("marks in Markdown", () => {
  it.each([
    ["words of a paragraph", "The «keeper winds» the clock", `<p>The ${NOW}keeper winds</mark> the clock</p>`],
    ["words with emphasis", "The «**keeper** winds» the clock", `<p>The ${NOW}<strong>keeper</strong> winds</mark> the clock</p>`],
    ["from within emphasis", "**The «keeper** winds» it", `<p><strong>The ${NOW}keeper</mark></strong>${NOW} winds</mark> it</p>`],
    ["a heading", "«# Fees»", `<h1>${NOW}Fees</mark></h1>`],
    ["items of a list", "«- one\n- two»", `<ul>\n<li>${NOW}one</mark></li>\n<li>${NOW}two</mark></li>\n</ul>`],
    ["a row of a table", "| Ship | Fee |\n| --- | --- |\n| Boat | 20 |\n«| Ferry | 430 |»", `${NOW}Ferry</mark></td><td>${NOW}430</mark></td>`],
    ["only the second of two", "«one» and «two»", `<p><mark>one</mark> and ${NOW}two</mark></p>`, 1],
    ["code, unmarked", "«`a`» and\n\n```\n«x»\n```", "<code>x\n</code>"],
  ])("%s", (_, source, want, current = 0) => expect(drawn(source, current)).toContain(want));

  it("leave no character behind, also of a text that has them", () => {
    expect(drawn("a\uE004b «c» https://example.org/«d» \uE006")).not.toMatch(/[\uE004-\uE006]/);
    expect(drawn("[x](https://example.org/«d»)")).toContain('href="https://example.org/d"');
  });
});
