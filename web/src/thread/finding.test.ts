// @vitest-environment jsdom
import { expect, it } from "vitest";
import { hitsIn, placeOf, rangesIn, reveal } from "./finding";
import type { Message, Part } from "./types";

const message = (id: string, role: "user" | "assistant", text: string): Message => ({ id, role, parts: [{ type: "text", text }] });
const thread = [message("q1", "user", "What is the notice period?"), message("a1", "assistant", "The **notice** period [1] is a month.\n\n> Notice in writing."), message("q2", "user", "Thanks")];

it("finds words in every message, in order, as the page shows them", () => {
  expect(hitsIn(thread, "notice")).toEqual([
    { id: "q1", nth: 0 },
    { id: "a1", nth: 0 },
    { id: "a1", nth: 1 },
  ]);
  expect(hitsIn(thread, "notice period is")).toEqual([{ id: "a1", nth: 0 }]); // without marks and numbers
  expect(hitsIn(thread, "  ")).toEqual([]);
});

it("reads no text while no words are sought", () => {
  const unread = { id: "a", role: "assistant", get parts(): never { throw new Error("read"); } } as unknown as Message;
  expect(hitsIn([unread], "")).toEqual([]);
});

it("stays at its hit when older messages are added, and begins with the last one", () => {
  const hits = hitsIn(thread.slice(1), "notice");
  expect(placeOf(hits, undefined)).toBe(1);
  const more = hitsIn(thread, "notice");
  expect(placeOf(more, hits[0])).toBe(1);
  expect(placeOf([], hits[0])).toBe(-1);
});

it("marks a match across elements, and nothing in buttons", () => {
  document.body.innerHTML = "<div>notice <p data-said>The <strong>notice</strong> period<button>notice</button><span class='sr-only'>notice</span></p></div>";
  const ranges = rangesIn(document.body.firstElementChild!, "the notice period");
  expect(ranges.map(String)).toEqual(["The notice period"]);
  expect(rangesIn(document.body.firstElementChild!, "notice")).toHaveLength(1);
});

const row = (html: string): Element => {
  document.body.innerHTML = `<div>${html}</div>`;
  return document.body.firstElementChild!;
};

it("finds questions that were answered, with their answers, and no open one", () => {
  const asked = { interrupt_type: "text_input", message: "Which notice do you mean?", answered: true, answer: { type: "answer", value: "The notice of 2024" } };
  const answered = (data: object, metadata: object): Message => ({ id: "a", role: "assistant", metadata, parts: [{ type: "data-interrupt", id: "i", data } as Part, { type: "text", text: "A notice." }] });
  expect(hitsIn([answered(asked, {})], "notice")).toHaveLength(3);
  expect(hitsIn([answered({ ...asked, answered: false, answer: undefined }, { finished_reason: "interrupted" })], "notice")).toHaveLength(1);
  expect(rangesIn(row("<p data-said>Which notice do you mean?</p><p data-said>The notice of 2024</p><div data-said>A notice.</div>"), "notice")).toHaveLength(3);
  expect(rangesIn(row("<p data-said>A notice</p><p data-said>is given.</p>"), "notice is")).toEqual([]);
});

it("finds what a model thought, in its place", () => {
  const thought: Message = { id: "a", role: "assistant", parts: [{ type: "reasoning", text: "A notice?" }, { type: "text", text: "A notice." }] };
  expect(hitsIn([thought], "notice")).toHaveLength(2);
});

it("opens the details that a match is in", () => {
  const closed = row("<div data-said><details><summary>More</summary><details><summary>Still more</summary><p>The notice</p></details></details></div>");
  const [range] = rangesIn(closed, "notice");
  reveal(range!);
  expect([...closed.querySelectorAll("details")].map((d) => d.open)).toEqual([true, true]);
});

it("finds the words of a diagram where it stands, and has it shown as text", () => {
  const text = "A notice.\n\n```mermaid\ngraph TD\n  A[Notice] --> B[End of notice]\n```\n\nThe last notice.";
  expect(hitsIn([message("a", "assistant", text)], "notice")).toHaveLength(4);
  expect(hitsIn([message("a", "assistant", text)], "mermaid")).toEqual([]);
  const drawn = row("<div data-said><p>A notice.</p><div class='relative'><div class='diagram' data-code='graph TD\n  A[Notice] --> B[End of notice]'><img></div></div><p>The last notice.</p></div>");
  const ranges = rangesIn(drawn, "notice");
  expect(ranges.map((r) => r.cloneContents().querySelector("img") !== null)).toEqual([false, true, true, false]);
  let asked = 0;
  drawn.querySelector(".diagram")!.addEventListener("beforematch", () => asked++);
  ranges.forEach(reveal);
  expect(asked).toBe(2);
});
