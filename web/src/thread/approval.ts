import { words } from "../words";
import type { AskedCall, Decision } from "./types";

/** A decision as a person is making it. */
export interface Draft {
  /** Null: not made yet. */
  decision: Decision["decision"] | null;
  /** The arguments as text. */
  text: string;
  /** Why they cannot be read; empty when they can. */
  problem: string;
  reason: string;
  remember: boolean;
}

/** Characters that are drawn as nothing, or that turn round what follows. The two that choose how an emoji looks may stay. */
const UNSEEN = /(?![\ufe0e\ufe0f])[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\x7f-\x9f]/gu;

const escaped = (c: string): string => c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** Reads JSON. Not exact: it has a number that a browser can only round. */
function read(text: string): { value: unknown; exact: boolean } {
  let exact = true;
  const value: unknown = JSON.parse(text, (_, v: unknown) => {
    if (Number.isInteger(v) && !Number.isSafeInteger(v)) exact = false;
    return v;
  });
  return { value, exact };
}

/** JSON as a person reads it, also when it stands in a text: the same JSON, with nothing in it that cannot be seen. Any other text is as it was. */
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

/** Why a text cannot be sent as the arguments of a call; empty when it can, or says what they are already. */
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

/** The decisions as they are sent: arguments only where they were changed. Null while one is not made, or cannot be read. */
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
