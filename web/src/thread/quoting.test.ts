// @vitest-environment jsdom
import { afterEach, expect, it } from "vitest";
import { quotedText, quoteLines, selectedIn } from "./quoting";

const show = (html: string): HTMLElement => {
  document.body.innerHTML = html;
  return document.body;
};
const select = (from: Node, to: Node) => document.getSelection()!.setBaseAndExtent(from, 0, to, to.childNodes.length);

afterEach(() => document.getSelection()?.removeAllRanges());

it("quotes the text of an answer, line by line, without citations' numbers", () => {
  const body = show("<p>A <b>month</b><button data-citation='1'>1</button>.</p><ul><li>One</li><li>Two<br>more</li></ul><table><tr><td>Fee</td><td>20</td></tr></table>");
  expect(quotedText(body)).toBe("A month.\nOne\nTwo\nmore\nFee | 20");
  expect(quoteLines("A\nB")).toEqual(["> A", "> B"]);
});

it("cuts what is too long", () => expect([...quotedText(show(`<p>${"é".repeat(3000)}</p>`))]).toHaveLength(2002));

it("takes a selection in one answer only", () => {
  const body = show("<div id='box'><div data-role='user'><p>Ask</p></div><div data-role='assistant'><p>Answer</p></div></div><p id='out'>Else</p>");
  const box = body.querySelector("#box");
  const [asked, said] = body.querySelectorAll("#box p");
  expect(selectedIn(box)).toBeNull();
  select(said!, said!);
  expect(selectedIn(box)?.text).toBe("Answer");
  select(asked!, asked!);
  expect(selectedIn(box)).toBeNull();
  select(asked!, said!);
  expect(selectedIn(box)).toBeNull();
  select(body.querySelector("#out")!, body.querySelector("#out")!);
  expect(selectedIn(box)).toBeNull();
});
