import type { Outgoing } from "../composer/types";
import { readJSON, write } from "../lib/storage";

const key = (threadId: string) => `palaver.pending.${threadId}`;

/** Keeps the message of the welcome page until its conversation has taken it, so that a reload in between does not lose it. */
export function keepPending(threadId: string, out: Outgoing): void {
  write(sessionStorage, key(threadId), JSON.stringify(out));
}

export function pendingOf(threadId: string): Outgoing | undefined {
  const value = readJSON(sessionStorage, key(threadId)) as Partial<Outgoing> | null;
  return typeof value?.text === "string" && Array.isArray(value.attachments) ? (value as Outgoing) : undefined;
}

export const dropPending = (threadId: string): void => write(sessionStorage, key(threadId), null);
