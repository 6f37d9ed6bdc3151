import type { Outgoing } from "../composer/types";
import { session } from "../lib/storage";

const key = (threadId: string) => `palaver.pending.${threadId}`;

/** Stores the message of the welcome page until it is sent in its thread, so that a reload does not lose it. */
export function keepPending(threadId: string, out: Outgoing): void {
  session.write(key(threadId), JSON.stringify(out));
}

export function pendingOf(threadId: string): Outgoing | undefined {
  const value = session.readJSON(key(threadId)) as Partial<Outgoing> | null;
  return typeof value?.text === "string" && typeof value.tiptap === "object" && Array.isArray(value.attachments) ? (value as Outgoing) : undefined;
}

export const dropPending = (threadId: string): void => session.write(key(threadId), null);
