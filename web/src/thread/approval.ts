import { words } from "../words";
import type { AskedCall, Decision } from "./types";

/** A decision that is not sent yet. */
export interface Draft {
  /** Null means undecided. */
  decision: Decision["decision"] | null;
  /** The arguments as text. */
  text: string;
  /** Why they are invalid; empty if they are valid. */
  problem: string;
  reason: string;
  remember: boolean;
}

/** Characters that are invisible or change the text direction, except the two emoji variation selectors. */
const UNSEEN = /(?![\ufe0e\ufe0f])[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\x7f-\x9f]/gu;

const escaped = (c: string): string => c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** Parses JSON. It is not exact if JavaScript rounds one of its integers. */
function read(text: string): { value: unknown; exact: boolean } {
  let exact = true;
  const value: unknown = JSON.parse(text, (_, v: unknown) => {
    if (Number.isInteger(v) && !Number.isSafeInteger(v)) exact = false;
    return v;
  });
  return { value, exact };
}

/** Formats JSON, also JSON in a string, and escapes invisible characters. Other strings, and JSON with integers that would be rounded, do not change. */
export function pretty(v: unknown): string {
  if (typeof v === "string") {
    if (!/^\s*[[{]/.test(v)) return v;
    try {
      const { value, exact } = read(v);
      return exact ? pretty(value) : v;
    } catch {
      return v;
    }
  }
  return (JSON.stringify(v, null, 2) ?? "").replace(UNSEEN, escaped);
}

export const draftOf = (call: AskedCall): Draft => ({ decision: null, text: pretty(call.arguments), problem: "", reason: "", remember: false });

const changed = (text: string, call: AskedCall): boolean => text.trim() !== pretty(call.arguments);

/** Says why a text is invalid as the arguments of a call; empty if it is valid or unchanged. */
export function argumentsProblem(text: string, call: AskedCall): string {
  if (!changed(text, call)) return "";
  try {
    const { value, exact } = read(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return words.tools.notObject;
    return exact ? "" : words.tools.longNumber;
  } catch {
    return words.tools.notJSON;
  }
}

/** Returns the decisions to send, with arguments only if they changed. Null if one is undecided or invalid. */
export function decide(calls: AskedCall[], drafts: Draft[]): Decision[] | null {
  const out: Decision[] = [];
  for (const [i, call] of calls.entries()) {
    const d = drafts[i]!;
    if (d.decision === null) return null;
    if (d.decision === "rejected") {
      out.push({ id: call.id, decision: "rejected", ...(d.reason.trim() && { reason: d.reason.trim() }) });
      continue;
    }
    if (call.editable && argumentsProblem(d.text, call)) return null;
    out.push({ id: call.id, decision: "approved", ...(call.editable && changed(d.text, call) && { arguments: JSON.parse(d.text) as Record<string, unknown> }), ...(d.remember && { remember: true }) });
  }
  return out;
}
