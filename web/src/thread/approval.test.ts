import { expect, it } from "vitest";
import { decide, draftOf, problemOf } from "./approval";
import type { AskedCall } from "./types";

const paint: AskedCall = { id: "c1", name: "generate_image", arguments: { prompt: "a cat" }, editable: true };
const fixed: AskedCall = { id: "c2", name: "delete_file", arguments: { path: "/a" }, editable: false };

it("what was not changed is not sent along", () =>
  expect(decide([paint, fixed], [draftOf(paint), draftOf(fixed)])).toEqual([
    { id: "c1", decision: "approved" },
    { id: "c2", decision: "approved" },
  ]));
it("changed arguments are", () => expect(decide([paint], [{ ...draftOf(paint), text: '{"prompt":"a dog"}' }])).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a dog" } }]));
it("arguments that may not be changed are not", () => expect(decide([fixed], [{ ...draftOf(fixed), text: '{"path":"/b"}' }])).toEqual([{ id: "c2", decision: "approved" }]));
it("a rejection has its reason", () => expect(decide([paint], [{ ...draftOf(paint), decision: "rejected", reason: " no " }])).toEqual([{ id: "c1", decision: "rejected", reason: "no" }]));
it("remember goes with an approval only", () => {
  expect(decide([paint], [{ ...draftOf(paint), remember: true }])).toEqual([{ id: "c1", decision: "approved", remember: true }]);
  expect(decide([paint], [{ ...draftOf(paint), remember: true, decision: "rejected" }])).toEqual([{ id: "c1", decision: "rejected" }]);
});
it.each(["{", "[]", "null", '"x"', "7"])("arguments %s are not sent", (text) => {
  expect(problemOf(text)).not.toBe("");
  expect(decide([paint], [{ ...draftOf(paint), text }])).toBeNull();
  expect(decide([paint], [{ ...draftOf(paint), text, decision: "rejected" }])).not.toBeNull();
});
