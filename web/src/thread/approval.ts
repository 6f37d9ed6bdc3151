import type { Detail } from "../api/http";
import { words } from "../words";
import { hasExactNumbers, pretty, type Arguments } from "./json";
import { fieldsOf, readForm, type Field, type Inputs } from "./schema";
import type { AskedCall, Decision, ToolInfo } from "./types";

/** A decision that is not sent yet. */
export interface Draft {
  /** Null means undecided. */
  decision: Decision["decision"] | null;
  /** How the arguments are shown. */
  as: "form" | "json";
  /** The arguments as text, while they are shown as JSON. */
  text: string;
  /** Why the text is invalid; empty if it is valid. */
  problem: string;
  /** The arguments that the form shows, and the inputs of its changed fields. */
  args: Arguments;
  inputs: Inputs;
  /** The fields that were changed since the server rejected an answer. */
  corrected: readonly string[];
  reason: string;
  remember: boolean;
}

export const draftOf = (call: AskedCall): Draft => ({ decision: null, as: "form", text: pretty(call.arguments), problem: "", args: call.arguments, inputs: {}, corrected: [], reason: "", remember: false });

const toolNamed = (tools: readonly ToolInfo[] | undefined, name: string): ToolInfo | undefined => tools?.find((t) => t.name === name);

/** The fields of a call, unless its arguments are shown as JSON. */
export const formOf = (call: AskedCall, draft: Draft, tools: readonly ToolInfo[] | undefined): Field[] | null =>
  draft.as === "form" ? fieldsOf(toolNamed(tools, call.name)?.schema, draft.args) : null;

/** Shows the arguments as JSON, as they are in the form. Fields that are invalid keep their earlier value. */
export function asJSON(call: AskedCall, draft: Draft, fields: readonly Field[]): Draft {
  const text = pretty(readForm(fields, draft.args, draft.inputs).args);
  return { ...draft, as: "json", text, problem: argumentsProblem(text, call) };
}

/** Shows the arguments as a form; null if the JSON is invalid or the form cannot show it. */
export function asForm(call: AskedCall, draft: Draft, tools: readonly ToolInfo[] | undefined): Draft | null {
  if (argumentsProblem(draft.text, call)) return null;
  const args = changed(draft.text, call) ? (JSON.parse(draft.text) as Arguments) : call.arguments;
  const form: Draft = { ...draft, as: "form", args, inputs: {}, problem: "" };
  return formOf(call, form, tools) && form;
}

const changed = (text: string, call: AskedCall): boolean => text.trim() !== pretty(call.arguments);

/** Says why a text is invalid as the arguments of a call; empty if it is valid or unchanged. */
export function argumentsProblem(text: string, call: AskedCall): string {
  if (!changed(text, call)) return "";
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return words.tools.notObject;
    return hasExactNumbers(value) ? "" : words.tools.longNumber;
  } catch {
    return words.tools.notJSON;
  }
}

/** The changed arguments of a call, {} if they are unchanged; null if they are invalid. */
function edited(call: AskedCall, draft: Draft, tools: readonly ToolInfo[] | undefined): { arguments?: Record<string, unknown> } | null {
  if (!call.editable) return {};
  const fields = formOf(call, draft, tools);
  let { text } = draft;
  if (fields) {
    const { args, problems } = readForm(fields, draft.args, draft.inputs);
    if (Object.keys(problems).length > 0) return null;
    text = pretty(args);
  }
  if (argumentsProblem(text, call)) return null;
  return changed(text, call) ? { arguments: JSON.parse(text) as Record<string, unknown> } : {};
}

/** Returns the decisions to send, with arguments only if they changed. Null if one is undecided or invalid. */
export function decide(calls: AskedCall[], drafts: Draft[], tools?: readonly ToolInfo[]): Decision[] | null {
  const out: Decision[] = [];
  for (const [i, call] of calls.entries()) {
    const d = drafts[i]!;
    if (d.decision === null) return null;
    if (d.decision === "rejected") {
      out.push({ id: call.id, decision: "rejected", ...(d.reason.trim() && { reason: d.reason.trim() }) });
      continue;
    }
    const change = edited(call, d, tools);
    if (!change) return null;
    out.push({ id: call.id, decision: "approved", ...change, ...(d.remember && { remember: true }) });
  }
  return out;
}

/** What the server says about the arguments of one decision, by field name. "" has what concerns no field. */
export function refusedArguments(details: readonly Detail[], decision: number, fields: readonly Field[] | null): Inputs {
  const at = `resume.resume_value.decisions[${decision}].arguments`;
  const found = new Map<string, string>();
  for (const { field, problem } of details) {
    if (field !== at && !field.startsWith(`${at}.`)) continue;
    const path = field.slice(at.length + 1);
    const name = fields?.find((f) => path === f.name || path.startsWith(`${f.name}.`))?.name ?? "";
    const inner = name ? path.slice(name.length + 1) : path;
    const said = words.tools.fields.refused(inner ? `${inner}: ${problem}` : problem);
    if (!found.has(name)) found.set(name, said);
  }
  return Object.fromEntries(found);
}
