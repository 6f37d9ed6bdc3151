import { useSyncExternalStore } from "react";
import { newIn } from "../api/space";
import { local } from "../lib/storage";
import type { MessageContent } from "./outgoing";

/** What the answers of a thread may use; null means everything. Without documents and sets, all. */
export interface Scope {
  docs: { id: string; title: string }[];
  sets: { id: string; title: string }[];
  /** Spaces whose documents answers use, too. The server keeps them for the rest of the thread. */
  spaces?: { id: string; title: string }[];
  /** The web is never searched. */
  noWeb?: true;
}

/** Maximum number of documents and sets per message. */
export const MOST = 50;

const PREFIX = "palaver.scope.";
const listeners = new Set<() => void>();
const read = new Map<string, { raw: string | null; scope: Scope | null }>();

const items = (v: unknown): Scope["docs"] => (Array.isArray(v) ? v.filter((i) => typeof i?.id === "string" && typeof i.title === "string") : []);

export function scopeOf(threadId: string | null): Scope | null {
  const key = PREFIX + (threadId ?? newIn("new"));
  const raw = local.read(key);
  const known = read.get(key);
  if (known?.raw === raw) return known.scope;
  const value = local.readJSON(key) as Partial<Scope> | null;
  const found: Scope = { docs: items(value?.docs), sets: items(value?.sets), ...(items(value?.spaces).length > 0 && { spaces: items(value?.spaces) }), ...(value?.noWeb === true && { noWeb: true }) };
  const scope = found.docs.length + found.sets.length > 0 || found.spaces || found.noWeb ? found : null;
  read.set(key, { raw, scope });
  return scope;
}

/** Sets what a thread may use from now on. */
export function setScope(threadId: string | null, scope: Scope | null): void {
  local.write(PREFIX + (threadId ?? newIn("new")), scope && JSON.stringify(scope));
  for (const changed of listeners) changed();
}

/** Leaves out of a thread's scope the spaces that the person no longer has: the server refuses messages with them. */
export function keepSpaces(threadId: string | null, known: ReadonlySet<string>): void {
  const scope = scopeOf(threadId);
  const spaces = scope?.spaces?.filter((s) => known.has(s.id));
  if (scope && spaces && spaces.length < scope.spaces!.length) setScope(threadId, { ...scope, spaces });
}

/** Moves the choice of the welcome page to the thread that starts there. */
export function moveScope(threadId: string): void {
  const scope = scopeOf(null);
  if (!scope) return;
  setScope(threadId, scope);
  setScope(null, null);
}

export const useScope = (threadId: string | null): Scope | null =>
  useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => scopeOf(threadId),
  );

/** Limits a message to the scope of its thread, unless it mentions documents, sets or the web itself. */
export function within<T extends MessageContent>(content: T, scope: Scope | null): T {
  if (!scope) return content;
  const limited = { ...content, ...(scope.spaces && { spaceIds: scope.spaces.map((s) => s.id) }), ...(scope.noWeb && !content.webSearch && { noWeb: true as const }) };
  if (content.taggedDocIds.length + content.taggedSetIds.length > 0) return limited;
  return { ...limited, taggedDocIds: scope.docs.map((d) => d.id), taggedSetIds: scope.sets.map((s) => s.id) };
}
