import { session } from "../lib/storage";

// Stores which branch of a thread this tab shows, if it is not the newest, so
// that a reload shows it again. Only the last MOST entries are kept.

const KEY = "palaver.heads";
const MOST = 40;

type Head = [thread: string, head: string];

const isHead = (v: unknown): v is Head => Array.isArray(v) && v.length === 2 && v.every((s) => typeof s === "string");

function heads(): Head[] {
  const value = session.readJSON(KEY);
  return Array.isArray(value) ? value.filter(isHead) : [];
}

/** The last turn of the branch that was shown; undefined means the newest. */
export const readHead = (threadId: string): string | undefined => heads().find(([id]) => id === threadId)?.[1];

/** Stores the head; undefined deletes it. */
export function keepHead(threadId: string, head: string | undefined): void {
  const before = heads();
  const others = before.filter(([id]) => id !== threadId);
  if (!head && others.length === before.length) return;
  const all: Head[] = head ? [...others, [threadId, head]] : others;
  session.write(KEY, all.length > 0 ? JSON.stringify(all.slice(-MOST)) : null);
}
