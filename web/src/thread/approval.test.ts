import { describe, expect, it } from "vitest";
import { argumentsProblem, asForm, asJSON, decide, draftOf, formOf, refusedArguments, type Draft } from "./approval";
import { pretty } from "./json";
import type { AskedCall, ToolInfo } from "./types";

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
it("changed arguments are sent", () => expect(decide([paint], [approved(paint, { as: "json", text: '{"prompt":"a dog"}' })])).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a dog" } }]));
it("arguments that are not editable are not sent", () => expect(decide([fixed], [approved(fixed, { text: '{"path":"/b"}' })])).toEqual([{ id: "c2", decision: "approved" }]));
it("a rejection has its reason", () => expect(decide([paint], [{ ...draftOf(paint), decision: "rejected", reason: " no " }])).toEqual([{ id: "c1", decision: "rejected", reason: "no" }]));
it("remember goes with an approval only", () => {
  expect(decide([paint], [approved(paint, { remember: true })])).toEqual([{ id: "c1", decision: "approved", remember: true }]);
  expect(decide([paint], [{ ...draftOf(paint), remember: true, decision: "rejected" }])).toEqual([{ id: "c1", decision: "rejected" }]);
});
describe("arguments as a form", () => {
  const tools: ToolInfo[] = [
    { name: "generate_image", description: "", effect: "changes", schema: { type: "object", properties: { prompt: { type: "string", minLength: 1 }, n: { type: "integer", maximum: 3 } }, required: ["prompt"] } },
  ];
  const draft = (more: Partial<Draft>) => approved(paint, more);
  it("are sent when a field changed", () => {
    expect(decide([paint], [draft({})], tools)).toEqual([{ id: "c1", decision: "approved" }]);
    expect(decide([paint], [draft({ inputs: { prompt: "a cat", n: "" } })], tools)).toEqual([{ id: "c1", decision: "approved" }]);
    expect(decide([paint], [draft({ inputs: { prompt: "a dog", n: "2" } })], tools)).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a dog", n: 2 } }]);
  });
  it("are not sent while a field is wrong, but can be rejected", () => {
    for (const inputs of [{ n: "4" }, { prompt: "" }, { n: "two" }] as Record<string, string>[]) {
      expect(decide([paint], [draft({ inputs })], tools)).toBeNull();
      expect(decide([paint], [draft({ inputs, decision: "rejected" })], tools)).not.toBeNull();
    }
  });
  it("keep what was typed when they are shown as JSON and as a form again", () => {
    const form = draft({ inputs: { prompt: "a dog", n: "x" } });
    const json = asJSON(paint, form, formOf(paint, form, tools)!);
    expect(JSON.parse(json.text)).toEqual({ prompt: "a dog" });
    const edited = { ...json, text: '{"prompt":"a cow","n":1}' };
    expect(decide([paint], [edited], tools)).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a cow", n: 1 } }]);
    const back = asForm(paint, edited, tools)!;
    expect(back.args).toEqual({ prompt: "a cow", n: 1 });
    expect(decide([paint], [back], tools)).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a cow", n: 1 } }]);
    expect(asForm(paint, { ...json, text: "{" }, tools)).toBeNull();
    expect(asForm(paint, json, [])).toBeNull();
  });
  it("are JSON if their tool is unknown", () => {
    expect(formOf(paint, draft({}), undefined)).toBeNull();
    expect(decide([paint], [draft({ text: '{"prompt":"a dog"}' })])).toEqual([{ id: "c1", decision: "approved", arguments: { prompt: "a dog" } }]);
  });
  it("show the server's problems at their fields", () => {
    const at = (field: string, problem = "does not match") => ({ field: `resume.resume_value.decisions[1].arguments${field}`, problem });
    const fields = formOf(paint, draft({}), tools);
    const said = (details: { field: string; problem: string }[], of = fields) => Object.keys(refusedArguments(details, 1, of));
    expect(said([at(".prompt"), at(".n")])).toEqual(["prompt", "n"]);
    expect(refusedArguments([at(".prompt.0.a")], 1, fields).prompt).toContain("0.a: does not match");
    expect(said([at(""), at(".promptly")])).toEqual([""]);
    expect(said([at(".prompt")], null)).toEqual([""]);
    expect(refusedArguments([at(".prompt")], 0, fields)).toEqual({});
    expect(refusedArguments([{ field: "resume.resume_value", problem: "x" }], 1, fields)).toEqual({});
  });
});

it.each(["{", "[]", "null", '"x"', "7"])("arguments %s are not sent", (text) => {
  expect(argumentsProblem(text, paint)).not.toBe("");
  expect(decide([paint], [approved(paint, { text })])).toBeNull();
  expect(decide([paint], [approved(paint, { text, decision: "rejected" })])).not.toBeNull();
});

it("a number that JavaScript would round is never changed", () => {
  const call: AskedCall = { ...paint, arguments: JSON.parse('{"id":12345678901234567890,"prompt":"a cat"}') as Record<string, unknown> };
  const text = pretty(call.arguments);
  expect(argumentsProblem(text, call)).toBe("");
  expect(decide([call], [approved(call)])).toEqual([{ id: "c1", decision: "approved" }]);
  const edited = text.replace("cat", "dog");
  expect(argumentsProblem(edited, call)).toMatch(/too long to be sent exactly/);
  expect(decide([call], [approved(call, { text: edited })])).toBeNull();
  expect(argumentsProblem('{"id":9007199254740991,"part":0.1}', call)).toBe("");
});

it("JSON in a string is shown as JSON, any other text as it is", () => {
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
