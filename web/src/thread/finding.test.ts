// @vitest-environment jsdom
import { expect, it } from "vitest";
import { hitsIn, placeOf, rangesIn } from "./finding";
import type { Message } from "./types";

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
  document.body.innerHTML = "<div>The <strong>notice</strong> period<button>notice</button><span class='sr-only'>notice</span></div>";
  const ranges = rangesIn(document.body.firstElementChild!, "the notice period");
  expect(ranges.map(String)).toEqual(["The notice period"]);
  expect(rangesIn(document.body.firstElementChild!, "notice")).toHaveLength(1);
});
