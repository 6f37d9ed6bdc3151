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

/** Arguments as a person reads them: the same JSON, with nothing in it that cannot be seen. */
export const pretty = (v: unknown): string => JSON.stringify(v ?? {}, null, 2).replace(UNSEEN, escaped);

export const draftOf = (call: AskedCall): Draft => ({ decision: null, text: pretty(call.arguments), problem: "", reason: "", remember: false });

/** Why a text cannot be the arguments of a call; empty when it can. */
export function problemOf(text: string): string {
  try {
    const v: unknown = JSON.parse(text);
    return typeof v === "object" && v !== null && !Array.isArray(v) ? "" : "The arguments must be a JSON object.";
  } catch {
    return "This is not valid JSON yet.";
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
    if (call.editable && problemOf(d.text)) return null;
    const changed = call.editable && d.text.trim() !== pretty(call.arguments);
    out.push({ id: call.id, decision: "approved", ...(changed && { arguments: JSON.parse(d.text) as Record<string, unknown> }), ...(d.remember && { remember: true }) });
  }
  return out;
}
