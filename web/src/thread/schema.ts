// The fields of a form, made from the JSON schema of a tool's arguments. Schemas come
// from MCP servers, so they are untrusted: patterns can take forever to match, so only the
// server checks them. A value without a suitable field is edited as JSON.

import { words } from "../words";
import { escapeUnseen, hasExactNumbers, pretty, type Arguments } from "./json";

export type Kind = "line" | "text" | "number" | "integer" | "switch" | "choice" | "json";

export interface Field {
  name: string;
  label: string;
  hint: string;
  kind: Kind;
  required: boolean;
  /** Whether an empty field means null. */
  nullable: boolean;
  /** The options of a choice. Its input is the index of one. */
  choices: { value: unknown; label: string }[];
  /** The default value of a switch. */
  on: boolean;
  limits: Limits;
  /** The HTML input type of a single line. */
  type: "text" | "email" | "url" | "date";
}

interface Limits {
  least?: number;
  most?: number;
  above?: number;
  below?: number;
  shortest?: number;
  longest?: number;
}

/** The inputs of the fields, by name. */
export type Inputs = Readonly<Record<string, string>>;

type Schema = Readonly<Record<string, unknown>>;

const MOST_FIELDS = 40;
const MOST_CHOICES = 200;
const SHORT = 100; // maximum characters of a text on a single line

const isSchema = (v: unknown): v is Schema => typeof v === "object" && v !== null && !Array.isArray(v);
const own = (of: Schema, key: string): unknown => (Object.hasOwn(of, key) ? of[key] : undefined);
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
const text = (v: unknown): string => (typeof v === "string" ? escapeUnseen(v.replace(/\s+/g, " ").trim()) : "");
const finite = (v: unknown): number | undefined => (typeof v === "number" && Number.isFinite(v) ? v : undefined);

/** The fields for these arguments, including those that are not in the schema; null if no form can be shown. */
export function fieldsOf(schema: unknown, args: Arguments): Field[] | null {
  if (!isSchema(schema) || !hasExactNumbers(args)) return null;
  const properties = own(schema, "properties");
  if (!isSchema(properties)) return null;
  const required = new Set(list(own(schema, "required")).filter((name): name is string => typeof name === "string" && Object.hasOwn(properties, name)));
  const names = [...new Set([...required, ...Object.keys(properties), ...Object.keys(args)])]; // servers sort properties by name
  if (names.length === 0 || names.length > MOST_FIELDS) return null;
  return names.map((name) => fieldOf(name, resolved(own(properties, name), schema), own(args, name), required.has(name)));
}

function fieldOf(name: string, schema: Schema, value: unknown, required: boolean): Field {
  const field: Field = {
    name,
    label: text(own(schema, "title")) || named(name),
    hint: text(own(schema, "description")),
    kind: "json",
    required,
    nullable: own(schema, "nullable") === true || list(own(schema, "type")).includes("null") || list(own(schema, "enum")).includes(null),
    choices: choicesOf(schema),
    on: own(schema, "default") === true,
    limits: limitsOf(schema),
    type: "text",
  };
  field.kind = kindOf(schema, field, value);
  if (field.kind === "line") field.type = typeOf(own(schema, "format"));
  return value === undefined || readable(field, value) ? field : { ...field, kind: "json" };
}

function kindOf(schema: Schema, { choices, limits }: Field, value: unknown): Kind {
  if (choices.length > 0) return "choice";
  switch (typeName(schema)) {
    case "boolean":
      return "switch";
    case "integer":
      return "integer";
    case "number":
      return "number";
    case "string": {
      const short = typeOf(own(schema, "format")) !== "text" || typeof own(schema, "pattern") === "string" || (limits.longest ?? Infinity) <= SHORT;
      return short && !(typeof value === "string" && (value.includes("\n") || value.length > SHORT)) ? "line" : "text";
    }
  }
  return "json";
}

/** Whether the field shows the value as it is: text without hidden characters, an offered choice. */
function readable({ kind, choices, nullable }: Field, value: unknown): boolean {
  if (value === null && nullable) return true;
  switch (kind) {
    case "switch":
      return typeof value === "boolean";
    case "choice":
      return choices.some((c) => c.value === value);
    case "integer":
    case "number":
      return typeof value === "number";
    case "json":
      return true;
  }
  return typeof value === "string" && escapeUnseen(value) === value && !value.includes("\r");
}

/** "due_date" and "dueDate" as "Due date". */
function named(name: string): string {
  const spaced = escapeUnseen(name).replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim();
  const lower = spaced.replace(/(?<= )[A-Z](?=[a-z])/g, (c) => c.toLowerCase());
  return lower === "" ? JSON.stringify(name) : lower.charAt(0).toUpperCase() + lower.slice(1);
}

function typeOf(format: unknown): Field["type"] {
  if (format === "email" || format === "date") return format;
  return format === "uri" || format === "url" ? "url" : "text";
}

/** The type without null; undefined if several remain. */
function typeName(schema: Schema): unknown {
  const type = own(schema, "type");
  if (!Array.isArray(type)) return type;
  const named = type.filter((t) => t !== "null");
  return named.length === 1 ? named[0] : undefined;
}

const simple = (v: unknown): boolean => typeof v === "string" || typeof v === "boolean" || (typeof v === "number" && hasExactNumbers(v));

function choicesOf(schema: Schema): Field["choices"] {
  const titled = list(own(schema, "oneOf") ?? own(schema, "anyOf")).filter(isSchema);
  const constants = titled.length > 0 && titled.every((t) => Object.hasOwn(t, "const"));
  const found = constants
    ? titled.map((t) => ({ value: t.const, label: text(own(t, "title")) }))
    : [...list(own(schema, "enum")), ...(Object.hasOwn(schema, "const") ? [schema.const] : [])].map((value) => ({ value, label: "" }));
  const choices = found.filter((c) => c.value !== null);
  if (choices.length > MOST_CHOICES || !choices.every((c) => simple(c.value))) return [];
  return choices.map(({ value, label }) => ({ value, label: label || escapeUnseen(String(value)) }));
}

function limitsOf(schema: Schema): Limits {
  const found: Limits = {};
  const set = (key: keyof Limits, from: string) => {
    const n = finite(own(schema, from));
    if (n !== undefined) found[key] = n;
  };
  set("least", "minimum");
  set("most", "maximum");
  set("above", "exclusiveMinimum");
  set("below", "exclusiveMaximum");
  set("shortest", "minLength");
  set("longest", "maxLength");
  return found;
}

/** Resolves a local $ref, and an anyOf, oneOf or allOf with a single part besides null (Python's Optional[str] is anyOf string and null). */
function resolved(schema: unknown, root: Schema, depth = 0): Schema {
  if (!isSchema(schema) || depth > 5) return {};
  const ref = own(schema, "$ref");
  if (typeof ref === "string") {
    const { $ref: _, ...rest } = schema;
    return { ...resolved(behind(ref, root), root, depth + 1), ...rest };
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const parts = list(own(schema, key));
    const real = key === "allOf" ? parts : parts.filter((p) => !isSchema(p) || own(p, "type") !== "null");
    if (real.length !== 1) continue;
    const { [key]: _, ...rest } = schema;
    return { ...resolved(real[0], root, depth + 1), ...rest, ...(real.length < parts.length && { nullable: true }) };
  }
  return schema;
}

function behind(ref: string, root: Schema): unknown {
  const steps = /^#\/(.+)$/.exec(ref)?.[1]?.split("/");
  return steps?.reduce<unknown>((at, step) => (isSchema(at) ? own(at, step.replaceAll("~1", "/").replaceAll("~0", "~")) : undefined), root);
}

/** The input that shows a value. */
export function inputOf({ kind, choices, nullable }: Field, value: unknown): string {
  if (value === undefined || (value === null && nullable && kind !== "json")) return "";
  switch (kind) {
    case "choice":
      return String(choices.findIndex((c) => c.value === value));
    case "json":
      return shortJSON(value) ?? pretty(value);
  }
  return String(value);
}

const LINE = 60; // maximum characters of JSON on one line

/** JSON on one line; null if it is long and not a string. */
function shortJSON(value: unknown): string | null {
  const line = escapeUnseen(JSON.stringify(value));
  return typeof value === "string" || line.length <= LINE ? line : null;
}

interface Read {
  /** undefined means that the argument is left out. */
  value?: unknown;
  problem: string;
}

/** Parses the input of a field: its value, or what is wrong with it. */
export function valueOf(field: Field, input: string): Read {
  const said = field.kind === "line" || field.kind === "text" ? input : input.trim();
  if (said === "" && field.required) return field.nullable ? { value: null, problem: "" } : { problem: words.tools.fields.required };
  if (said === "") return { problem: "" };
  switch (field.kind) {
    case "switch":
      return { value: said === "true", problem: "" };
    case "choice":
      return { value: field.choices[Number(said)]?.value, problem: "" };
    case "integer":
    case "number":
      return numberOf(field, said);
    case "json":
      return jsonOf(said);
  }
  return { value: said, problem: lengthProblem(field.limits, said) };
}

function numberOf({ kind, limits }: Field, said: string): Read {
  const plain = said.replace(/^(-?\d+),(\d+)$/, "$1.$2"); // a decimal comma
  if (!/^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i.test(plain)) return { problem: kind === "integer" ? words.tools.fields.integer : words.tools.fields.number };
  const value = Number(plain);
  if (kind === "integer" && !Number.isInteger(value)) return { problem: words.tools.fields.integer };
  if (!hasExactNumbers(value) || !Number.isFinite(value)) return { problem: words.tools.fields.longNumber };
  return { value, problem: rangeProblem(limits, value) };
}

function rangeProblem({ least, most, above, below }: Limits, value: number): string {
  const { fields } = words.tools;
  if (least !== undefined && most !== undefined && (value < least || value > most)) return fields.between(least, most);
  if (least !== undefined && value < least) return fields.atLeast(least);
  if (most !== undefined && value > most) return fields.atMost(most);
  if (above !== undefined && value <= above) return fields.above(above);
  return below !== undefined && value >= below ? fields.below(below) : "";
}

function lengthProblem({ shortest = 0, longest = Infinity }: Limits, said: string): string {
  const { length } = [...said]; // schemas count code points
  if (length < shortest) return words.tools.fields.shortest(shortest);
  return length > longest ? words.tools.fields.longest(longest, length) : "";
}

function jsonOf(said: string): Read {
  try {
    const value: unknown = JSON.parse(said);
    return hasExactNumbers(value) ? { value, problem: "" } : { problem: words.tools.fields.longNumber };
  } catch {
    return { problem: words.tools.notJSON };
  }
}

/** The arguments of a form, and what is wrong, by field. Unchanged and invalid fields keep their earlier value. */
export function readForm(fields: readonly Field[], args: Arguments, inputs: Inputs): { args: Arguments; problems: Inputs } {
  const entries = new Map(Object.entries(args));
  const problems = new Map<string, string>();
  for (const field of fields) {
    const input = Object.hasOwn(inputs, field.name) ? inputs[field.name]! : undefined;
    if (input === undefined || input === inputOf(field, own(args, field.name))) continue;
    const { value, problem } = valueOf(field, input);
    if (problem) problems.set(field.name, problem);
    else if (value === undefined) entries.delete(field.name);
    else entries.set(field.name, value);
  }
  return { args: Object.fromEntries(entries), problems: Object.fromEntries(problems) };
}
