import type { Outgoing } from "../composer/types";
import { session } from "../lib/storage";

/** A message that the server has not accepted yet, with all that a retry needs. */
export interface Unsent {
  out: Outgoing;
  clientTurnId: string;
  /** The checkpoint that it follows; undefined means the newest. */
  parent?: string | undefined;
}

const key = (threadId: string) => `palaver.unsent.${threadId}`;

/** Stores the newest message of a thread until the server has accepted it, so that a reload does not lose its text. */
export const keepUnsent = (threadId: string, message: Unsent): void => session.write(key(threadId), JSON.stringify(message));

export function unsentOf(threadId: string): Unsent | undefined {
  const value = session.readJSON(key(threadId)) as Partial<Unsent> | null;
  return typeof value?.clientTurnId === "string" && typeof value.out?.text === "string" && typeof value.out.tiptap === "object" && Array.isArray(value.out.attachments) ? (value as Unsent) : undefined;
}

export const dropUnsent = (threadId: string): void => session.write(key(threadId), null);
