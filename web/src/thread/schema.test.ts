import { describe, expect, it } from "vitest";
import { hasExactNumbers } from "./json";
import { fieldsOf, inputOf, readForm, valueOf, type Field, type Kind } from "./schema";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const field = (schema: unknown, value?: unknown, more: object = {}): Field => fieldsOf(object({ x: schema }, more), value === undefined ? {} : { x: value })![0]!;

it.each<[Kind, string, unknown, unknown?]>([
  ["text", "a text", { type: "string" }],
  ["line", "a short text", { type: "string", maxLength: 80 }],
  ["text", "a long text", { type: "string", maxLength: 4000 }],
  ["text", "a short text with several lines", { type: "string", maxLength: 80 }, "a\nb"],
  ["line", "an address", { type: "string", format: "email" }],
  ["line", "a text with a pattern", { type: "string", pattern: "^[A-Z]+$" }],
  ["number", "a number", { type: "number" }],
  ["integer", "a whole number", { type: "integer" }],
  ["switch", "true or false", { type: "boolean" }],
  ["choice", "an enum", { enum: ["low", "high"] }],
  ["choice", "an enum of numbers", { type: "integer", enum: [1, 2] }],
  ["choice", "constants with titles", { oneOf: [{ const: "l", title: "Low" }, { const: "h", title: "High" }] }],
  ["choice", "one constant", { const: "v1" }],
  ["json", "a list", { type: "array", items: { type: "string" } }],
  ["json", "an object", { type: "object" }],
  ["json", "several types", { type: ["string", "number"] }],
  ["json", "any of two types", { anyOf: [{ type: "string" }, { type: "number" }] }],
  ["json", "no schema", true],
  ["text", "a text or null, as Python writes it", { anyOf: [{ type: "string" }, { type: "null" }], default: null }],
  ["integer", "a number or null", { type: ["integer", "null"] }],
  ["choice", "an enum elsewhere in the schema", { $ref: "#/$defs/Level" }],
  ["choice", "the same or null", { anyOf: [{ $ref: "#/$defs/Level" }, { type: "null" }] }],
  ["json", "a reference to nowhere", { $ref: "#/$defs/None" }],
  ["json", "a reference to itself", { $ref: "#/properties/x" }],
  ["json", "a reference to another host", { $ref: "https://example.com/x.json" }],
  ["json", "an enum of lists", { enum: [[1], [2]] }],
  ["json", "an enum that is too long", { enum: Array.from({ length: 500 }, (_, i) => `v${i}`) }],
  ["json", "a value of another type", { type: "string" }, 7],
  ["json", "a value that is not offered", { enum: ["low"] }, "high"],
  ["json", "a text with hidden characters", { type: "string" }, "a\u202eb"],
])("the field is %s for %s", (kind, _, schema, value) => {
  expect(field(schema, value, { $defs: { Level: { type: "string", enum: ["low", "high"] } } }).kind).toBe(kind);
});

it("arguments that are not in the schema have a field, too", () => {
  const fields = fieldsOf(object({ a: { type: "string" } }), { a: "1", secret: { b: 2 } })!;
  expect(fields.map((f) => [f.name, f.kind])).toEqual([["a", "text"], ["secret", "json"]]);
});

it("required fields come first, in the order of the schema's list", () => {
  const fields = fieldsOf(object({ a: {}, b: {}, c: {}, d: {} }, { required: ["d", "b", "none", 7] }), {})!;
  expect(fields.map((f) => f.name)).toEqual(["d", "b", "a", "c"]);
});

it.each([
  ["no schema", undefined],
  ["a schema without properties", { type: "object" }],
  ["properties that are no object", { type: "object", properties: [] }],
  ["too many properties", object(Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`p${i}`, {}])))],
])("there is no form for %s", (_, schema) => expect(fieldsOf(schema, {})).toBeNull());

it("there is no form for a number that JavaScript would round", () => {
  const args = JSON.parse('{"n":12345678901234567890}') as Record<string, unknown>;
  expect(hasExactNumbers(args)).toBe(false);
  expect(fieldsOf(object({ n: { type: "integer" } }), args)).toBeNull();
});

it.each([
  ["due_date", {}, "Due date"],
  ["dueDate", {}, "Due date"],
  ["URL", {}, "URL"],
  ["x", { title: "  How\nmany " }, "How many"],
  ["x", { title: "a\u202eb" }, "a\\u202eb"],
  ["", {}, '""'],
])("the label of %j with %j is %s", (name, schema, label) => expect(fieldsOf(object({ [name]: schema }), {})![0]!.label).toBe(label));

describe("what is wrong", () => {
  const required = { required: ["x"] };
  it.each<[string, unknown, string, RegExp, object?]>([
    ["missing", { type: "string" }, "", /required/, required],
    ["not a number", { type: "number" }, "two", /Enter a number/],
    ["not a whole number", { type: "integer" }, "1.5", /whole number/],
    ["hexadecimal", { type: "integer" }, "0x10", /whole number/],
    ["an integer that would be rounded", { type: "integer" }, "12345678901234567890", /too long/],
    ["infinite", { type: "number" }, "1e999", /too long/],
    ["out of range", { type: "integer", minimum: 1, maximum: 5 }, "6", /from 1 to 5/],
    ["too small", { type: "number", minimum: 1 }, "0.5", /1 or more/],
    ["too large", { type: "number", maximum: 1 }, "1.5", /1 or less/],
    ["at an excluded minimum", { type: "number", exclusiveMinimum: 0 }, "0", /more than 0/],
    ["at an excluded maximum", { type: "number", exclusiveMaximum: 1 }, "1", /less than 1/],
    ["too short", { type: "string", minLength: 3 }, "ab", /at least 3 characters/],
    ["too long", { type: "string", maxLength: 2 }, "a👍🏽", /at most 2 characters. You have 3/],
    ["invalid JSON", { type: "array" }, "[1,", /JSON/],
  ])("is reported for a value that is %s", (_, schema, input, problem, more) => expect(valueOf(field(schema, undefined, more), input).problem).toMatch(problem));
});

it.each<[string, unknown, string, unknown, object?]>([
  ["a text as it is", { type: "string" }, " a\nb ", " a\nb "],
  ["a number", { type: "number" }, " 1.5 ", 1.5],
  ["a number with a decimal comma", { type: "number" }, "1,5", 1.5],
  ["a whole number with a fraction of zero", { type: "integer" }, "2.0", 2],
  ["a switch", { type: "boolean" }, "false", false],
  ["a choice that is a number", { enum: [1, 2] }, "1", 2],
  ["JSON", { type: "array" }, ' ["a"] ', ["a"]],
  ["nothing", { type: "number" }, "", undefined],
  ["null", { type: ["number", "null"] }, "", null, { required: ["x"] }],
])("a field is parsed: %s", (_, schema, input, value, more) => expect(valueOf(field(schema, undefined, more), input)).toEqual(value === undefined ? { problem: "" } : { value, problem: "" }));

describe("a form", () => {
  const fields = fieldsOf(object({ title: { type: "string" }, n: { type: "integer" }, urgent: { type: "boolean", default: true }, tags: { type: "array" } }, { required: ["title"] }), { title: "a", n: 3 })!;
  const args = { title: "a", n: 3 };
  it("keeps the values of unchanged fields", () => {
    expect(readForm(fields, args, {})).toEqual({ args, problems: {} });
    expect(readForm(fields, args, { title: "a", n: "3", urgent: "" })).toEqual({ args, problems: {} });
  });
  it("leaves out the values of emptied fields", () => expect(readForm(fields, args, { n: "" }).args).toEqual({ title: "a" }));
  it("keeps the earlier value of a field that is wrong", () => expect(readForm(fields, args, { title: "", n: "4" })).toEqual({ args: { title: "a", n: 4 }, problems: { title: expect.any(String) as string } }));
  it("adds new values", () => expect(readForm(fields, args, { urgent: "false", tags: '["x"]' }).args).toEqual({ title: "a", n: 3, urgent: false, tags: ["x"] }));
  it("can have fields named __proto__ and constructor", () => {
    const odd = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, unknown>;
    const fields = fieldsOf(object({}), odd)!;
    const read = readForm(fields, odd, Object.fromEntries([["__proto__", '"c"']]));
    expect(JSON.stringify(read.args)).toBe('{"__proto__":"c","constructor":"b"}');
    expect(readForm(fieldsOf(object({ toString: { type: "string" } }), {})!, {}, {}).args).toEqual({});
  });
});

it("hidden characters are escaped where JSON is shown", () => {
  const f = field({ type: "string" }, "a\u202eb");
  expect(inputOf(f, "a\u202eb")).toBe('"a\\u202eb"');
  expect(valueOf(f, '"a\\u202eb"').value).toBe("a\u202eb");
});
