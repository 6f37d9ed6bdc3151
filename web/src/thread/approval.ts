import type { AskedCall, Decision } from "./types";

/** A decision as a person is making it. */
export interface Draft {
  decision: Decision["decision"];
  /** The arguments as text. */
  text: string;
  /** Why they cannot be read; empty when they can. */
  problem: string;
  reason: string;
  remember: boolean;
}

const pretty = (v: unknown): string => JSON.stringify(v ?? {}, null, 2);

export const draftOf = (call: AskedCall): Draft => ({ decision: "approved", text: pretty(call.arguments), problem: "", reason: "", remember: false });

/** Why a text cannot be the arguments of a call; empty when it can. */
export function problemOf(text: string): string {
  try {
    const v: unknown = JSON.parse(text);
    return typeof v === "object" && v !== null && !Array.isArray(v) ? "" : "The arguments must be a JSON object.";
  } catch {
    return "This is not valid JSON yet.";
  }
}

/** The decisions as they are sent: arguments only where they were changed. Null while one cannot be read. */
export function decide(calls: AskedCall[], drafts: Draft[]): Decision[] | null {
  const out: Decision[] = [];
  for (const [i, call] of calls.entries()) {
    const d = drafts[i]!;
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
