import { useQuery } from "@tanstack/react-query";
import { createContext, useEffect, useRef } from "react";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";
import { refreshLibrary } from "../documents/library";
import { toast } from "../ui/toast";
import { words } from "../words";
import { readLink } from "./links";

export type ImportState = "looking" | "downloading" | "reading" | "indexing" | "ready" | "failed";

/** A document that is being imported, or was. */
export interface Import {
  id: string;
  url: string;
  source_type: string;
  name?: string;
  state: ImportState;
  document_id?: string;
  chunks?: number;
  /** What a ready one did: made a document, found that it is there, or replaced it by a new version. */
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
 * The imports of a conversation, the newest first; asked for again while one goes on, or while its turn does. One that
 * becomes ready when the answer is over says so.
 */
export function useImports(threadId: string, busy: boolean, any: boolean): readonly Import[] {
  const { data, refetch } = useQuery({
    queryKey: [...ALL, threadId],
    queryFn: ({ signal }) => read(threadId, signal),
    enabled: any,
    refetchInterval: (query) => (busy || query.state.data?.some(running) ? POLL_MS : false),
  });
  useEffect(() => {
    if (any && !busy) void refetch(); // the turn's last word
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
    if (busy) return; // the answer says it
    for (const i of finished) if (i.state === "ready") toast(words.imports.nowReady(titleOf(i)));
  }, [imports, busy]);
}

/** The reader's imports that go on, of all conversations. */
export function useOpenImports(): readonly Import[] {
  const { data } = useQuery({ queryKey: ALL, queryFn: ({ signal }) => read("", signal), refetchInterval: (query) => (query.state.data?.some(running) ? POLL_MS : false) });
  const open = (data ?? none).filter(running).length;
  useEffect(() => void refreshLibrary(), [open]);
  return (data ?? none).filter(running);
}

/** The conversation that is shown, and its imports. */
export const Imports = createContext<{ threadId: string; items: readonly Import[] }>({ threadId: "", items: none });

/** The newest import of what a link leads to. */
export const importOf = (imports: readonly Import[], key: string): Import | undefined =>
  imports.filter((i) => (readLink(i.url)?.key ?? i.url) === key).toSorted((a, b) => b.created_at.localeCompare(a.created_at))[0];

export const titleOf = (i: Import): string => i.name || (readLink(i.url)?.host ?? i.url);

/** Begins an import, also one that has failed. */
export async function importAgain({ url }: Import, threadId: string): Promise<void> {
  await request("/api/imports", post({ url, conversation_id: threadId }));
  await refresh(ALL);
}

/** Imports a document anew from where it came, and returns how that ended; null when it goes on for long. */
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
