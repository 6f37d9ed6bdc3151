import { useEffect, useRef, useSyncExternalStore } from "react";
import { request } from "../api/http";
import { forSpace } from "../api/space";
import { saveDraft } from "../composer/drafts";
import { setScope } from "../composer/scope";
import { local, session } from "../lib/storage";
import { conversationPath } from "./conversations";
import { dropPending } from "./pending";

// The temporary conversations of this tab. Each is deleted when the tab shows another page;
// a reload keeps it. What a closed tab leaves is deleted by the next one, or by the server, once a
// day: a tab has a lock for each of its conversations, which ends with it.

const KEY = "palaver.temporary";
const listeners = new Set<() => void>();

const read = (storage: typeof local): string[] => {
  const value = storage.readJSON(KEY);
  return Array.isArray(value) ? value.filter((v) => typeof v === "string") : [];
};
const ids = () => read(session);

/** The temporary conversations of all tabs of this browser. */
function writeAll(list: readonly string[]): void {
  local.write(KEY, list.length > 0 ? JSON.stringify(list) : null);
}

const held = new Set<string>();
const lockOf = (id: string) => `${KEY}.${id}`;

/** Tells other tabs that this one has a conversation, until it is closed. */
function hold(id: string): void {
  if (held.has(id) || !navigator.locks) return;
  held.add(id);
  writeAll([...new Set([...read(local), id])]);
  void navigator.locks.request(lockOf(id), () => new Promise(() => {}));
}

function write(list: readonly string[]): void {
  session.write(KEY, list.length > 0 ? JSON.stringify(list) : null);
  for (const changed of listeners) changed();
}

/** Notes that a conversation is temporary. */
export function keepTemporary(threadId: string): void {
  if (!ids().includes(threadId)) write([...ids(), threadId]);
  hold(threadId);
}

export const isTemporary = (threadId: string | null): boolean => threadId !== null && ids().includes(threadId);

export const useTemporary = (threadId: string | null): boolean =>
  useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => isTemporary(threadId),
  );

/** Deletes a temporary conversation. One that cannot be deleted now is tried again when the tab shows another page. */
async function deleteTemporary(id: string): Promise<void> {
  dropPending(id);
  saveDraft(id, null);
  setScope(id, null);
  try {
    await request(conversationPath(id), { method: "DELETE", keepalive: true, headers: forSpace("") });
  } catch (err) {
    if (!notFound(err)) return;
  }
  write(ids().filter((x) => x !== id));
  writeAll(read(local).filter((x) => x !== id));
}

const notFound = (err: unknown): boolean => (err as { status?: number }).status === 404;

/** Deletes the tab's temporary conversations that are not shown, and those of closed tabs. */
export function useLeaveTemporary(threadId: string | null): void {
  useEffect(() => {
    ids().forEach(hold); // after a reload
    for (const id of read(local)) if (!held.has(id)) void navigator.locks?.request(lockOf(id), { ifAvailable: true }, async (free) => free && (await deleteTemporary(id)));
  }, []);
  const shown = useRef(threadId);
  shown.current = threadId;
  useEffect(() => {
    for (const id of ids()) if (id !== shown.current) void deleteTemporary(id);
  }, [threadId]);
}
