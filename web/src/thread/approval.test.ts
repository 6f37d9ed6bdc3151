import { describe, expect, it } from "vitest";
import { argumentsProblem, decide, draftOf, pretty, type Draft } from "./approval";
import type { AskedCall } from "./types";

const paint: AskedCall = { id: "c1", name: "generate_image", arguments: { prompt: "a cat" }, editable: true };
const fixed: AskedCall = { id: "c2", name: "delete_file", arguments: { path: "/a" }, editable: false };
const approved = (call: AskedCall, more: Partial<Draft> = {}): Draft => ({ ...draftOf(call), decision: "approved", ...more });

it("no decision is preselected", () => {
  expect(decide([paint], [draftOf(paint)])).toBeNull();
  expect(decide([paint, fixed], [approved(paint), draftOf(fixed)])).toBeNull();
});
it("unchanged arguments are not sent", () =>
  expect(decide([paint, fixed], [approved(paint), approved(fixed)])).toEqual([
    { id: "c1", decision: "approved" },
    { id: "c2", decision: "approved" },
  ]));
it("changed arguments are sent", () => expect(decide([paint], [approved(paint, { text: '{"prompt":"a dog"}' })])).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a dog" } }]));
it("arguments that are not editable are not sent", () => expect(decide([fixed], [approved(fixed, { text: '{"path":"/b"}' })])).toEqual([{ id: "c2", decision: "approved" }]));
it("a rejection has its reason", () => expect(decide([paint], [{ ...draftOf(paint), decision: "rejected", reason: " no " }])).toEqual([{ id: "c1", decision: "rejected", reason: "no" }]));
it("remember goes with an approval only", () => {
  expect(decide([paint], [approved(paint, { remember: true })])).toEqual([{ id: "c1", decision: "approved", remember: true }]);
  expect(decide([paint], [{ ...draftOf(paint), remember: true, decision: "rejected" }])).toEqual([{ id: "c1", decision: "rejected" }]);
});
it.each(["{", "[]", "null", '"x"', "7"])("arguments %s are not sent", (text) => {
  expect(argumentsProblem(text, paint)).not.toBe("");
  expect(decide([paint], [approved(paint, { text })])).toBeNull();
  expect(decide([paint], [approved(paint, { text, decision: "rejected" })])).not.toBeNull();
});

it("a number beyond the browser's precision is never rounded", () => {
  const call: AskedCall = { ...paint, arguments: JSON.parse('{"id":12345678901234567890,"prompt":"a cat"}') as Record<string, unknown> };
  const text = pretty(call.arguments);
  expect(argumentsProblem(text, call)).toBe("");
  expect(decide([call], [approved(call)])).toEqual([{ id: "c1", decision: "approved" }]);
  const edited = text.replace("cat", "dog");
  expect(argumentsProblem(edited, call)).toMatch(/too long to be sent exactly/);
  expect(decide([call], [approved(call, { text: edited })])).toBeNull();
  expect(argumentsProblem('{"id":9007199254740991,"part":0.1}', call)).toBe("");
});

it("JSON that a tool gives as a text is shown as JSON, any other text as it is", () => {
  expect(pretty(' {"a":["x\u202ey"]}')).toBe(pretty({ a: ["x\u202ey"] }));
  for (const text of ['{"id":12345678901234567890}', "[1] see there", "{", "", "plain\u200dwords"]) expect(pretty(text)).toBe(text);
  expect(pretty(undefined)).toBe("");
  expect(pretty(null)).toBe("null");
});

describe("characters that cannot be seen", () => {
  const hidden = { to: "a\u202eb\u2066c\u200bd\ufeffe\u00adf\u061cg\u2028h\u0085i\u{e0041}", "k\u200dey": 1 };

  it("are escaped in arguments, which stay equivalent JSON", () => {
    const text = pretty(hidden);
    expect(text).toContain(String.raw`a\u202eb\u2066c\u200bd\ufeffe\u00adf\u061cg\u2028h\u0085i\udb40\udc41`);
    expect(text).toContain(String.raw`"k\u200dey": 1`);
    expect(JSON.parse(text)).toEqual(hidden);
    expect(argumentsProblem(text, paint)).toBe("");
  });
  it("do not make arguments look changed", () => {
    const call = { ...paint, arguments: hidden };
    expect(decide([call], [approved(call)])).toEqual([{ id: "c1", decision: "approved" }]);
  });
  it("do not affect visible characters", () => {
    const seen = { text: "Grüße, こんにちは, שלום, ❤️ 👍🏽\n\t\"quoted\" \\ back" };
    expect(pretty(seen)).toBe(JSON.stringify(seen, null, 2));
  });
});
