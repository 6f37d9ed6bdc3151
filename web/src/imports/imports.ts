import { useQuery } from "@tanstack/react-query";
import { createContext, useEffect, useRef } from "react";
import type { Coded } from "../api/coded";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";
import { refreshLibrary } from "../documents/library";
import { toast } from "../ui/toast";
import { words } from "../words";
import { readLink, type LinkKind } from "./links";

export type ImportState = "looking" | "downloading" | "reading" | "indexing" | "ready" | "failed";

/** A running or finished import. */
export interface Import extends Coded {
  id: string;
  url: string;
  source_type: string;
  name?: string;
  state: ImportState;
  document_id?: string;
  chunks?: number;
  /** The outcome once it is ready: a new document, a duplicate, or a new version of a document. */
  outcome?: "imported" | "duplicate" | "updated";
  /** Why it failed. */
  code?: string;
  message?: string;
  created_at: string;
  updated_at: string;
}

export const running = (i: Import): boolean => i.state !== "ready" && i.state !== "failed";

const POLL_MS = 1_500;
const MOST_TRIES = 40;
const ALL = ["imports"];
const read = async (threadId: string, signal?: AbortSignal): Promise<Import[]> =>
  (await getJSON<{ imports?: Import[] | null }>(`/api/imports${threadId && `?conversation_id=${encodeURIComponent(threadId)}`}`, signal && { signal })).imports ?? [];

/**
 * The imports of a conversation, newest first; refetched while one of them or their turn is running. Shows a toast for
 * an import that becomes ready after its answer has ended.
 */
export function useImports(threadId: string, busy: boolean, any: boolean): readonly Import[] {
  const { data, refetch } = useQuery({
    queryKey: [...ALL, threadId],
    queryFn: ({ signal }) => read(threadId, signal),
    enabled: any,
    refetchInterval: (query) => (busy || query.state.data?.some(running) ? POLL_MS : false),
  });
  useEffect(() => {
    if (any && !busy) void refetch(); // read the state at the end of the turn
  }, [any, busy, refetch]);
  useFinished(data ?? none, busy);
  return data ?? none;
}

const none: readonly Import[] = [];

function useFinished(imports: readonly Import[], busy: boolean) {
  const before = useRef(new Set<string>());
  useEffect(() => {
    const finished = imports.filter((i) => before.current.has(i.id) && !running(i));
    before.current = new Set(imports.filter(running).map((i) => i.id));
    if (finished.length > 0) void refreshLibrary();
    if (busy) return; // the answer reports it
    for (const i of finished) if (i.state === "ready") toast(words.imports.nowReady(titleOf(i)));
  }, [imports, busy]);
}

/** The user's running imports of all conversations. */
export function useOpenImports(any: boolean): readonly Import[] {
  const { data } = useQuery({ queryKey: ALL, queryFn: ({ signal }) => read("", signal), enabled: any, refetchInterval: (query) => (query.state.data?.some(running) ? POLL_MS : false) });
  const open = (data ?? none).filter(running).length;
  useEffect(() => void refreshLibrary(), [open]);
  return (data ?? none).filter(running);
}

/** The current conversation and its imports. */
export const Imports = createContext<{ threadId: string; items: readonly Import[] }>({ threadId: "", items: none });

/** The newest import of the link with this key. */
export const importOf = (imports: readonly Import[], key: string): Import | undefined =>
  imports.filter((i) => (readLink(i.url)?.key ?? i.url) === key).toSorted((a, b) => b.created_at.localeCompare(a.created_at))[0];

/** The name of the imported document; until it is known, what its link points to. kind is that of the link in the message: the server's own link may say less. */
export function titleOf(i: Import, kind: LinkKind | null = readLink(i.url)?.kind ?? null): string {
  if (i.name) return i.name;
  return kind && kind !== "web" ? words.imports.kinds[kind] : (readLink(i.url)?.host ?? i.url);
}

/** Starts an import, or retries a failed one. */
export async function importAgain({ url }: Import, threadId: string): Promise<void> {
  await request("/api/imports", post({ url, conversation_id: threadId }));
  await refresh(ALL);
}

/** Imports a document again from its source and returns the outcome; null if it takes long and continues in the background. */
export async function reimport(documentId: string): Promise<Import | null> {
  const res = await request(`/api/documents/${encodeURIComponent(documentId)}/reimport`, { method: "POST" });
  const { id } = (await res.json()) as Import;
  await refresh(ALL);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const now = (await read("")).find((i) => i.id === id);
    if (!now || !running(now)) {
      await refreshLibrary();
      return now ?? null;
    }
  }
  return null;
}
