import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";
import type { Doc, DocSet, Page } from "../api/types";
import { Uploads } from "../api/uploads";
import { useDeleted } from "../ui/deletions";

const DOCS = ["documents"];
const SETS = ["document-sets"];
const POLL_MS = 1_000;
const PAGES = 20; // of 200
const enc = encodeURIComponent;

export const documentPath = (id: string) => `/api/documents/${enc(id)}`;
export const setPath = (id: string) => `/api/document-sets/${enc(id)}`;

/** Every item of a list, page by page; the server bounds a page, the loop bounds the pages. */
async function all<T>(path: string, signal: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let cursor = "";
  for (let page = 0; page < PAGES; page++) {
    const got = await getJSON<Page<T>>(`${path}?limit=200&cursor=${enc(cursor)}`, { signal });
    items.push(...(got.items ?? []));
    if (!got.next_cursor) break;
    cursor = got.next_cursor;
  }
  return items;
}

/** The documents and sets that can be asked about; asked for again while one is processing. */
export function useLibrary() {
  const deleted = useDeleted();
  const docs = useQuery({
    queryKey: DOCS,
    queryFn: ({ signal }) => all<Doc>("/api/documents", signal),
    refetchInterval: (query) => (query.state.data?.some((d) => d.status === "processing") ? POLL_MS : false),
  });
  const sets = useQuery({ queryKey: SETS, queryFn: ({ signal }) => all<DocSet>("/api/document-sets", signal) });
  // The same lists while nothing has changed: who reads them is drawn often.
  return {
    docs: useMemo(() => (docs.data ?? []).filter((d) => !deleted.has(documentPath(d.id))), [docs.data, deleted]),
    sets: useMemo(() => (sets.data ?? []).filter((s) => !deleted.has(setPath(s.id))), [sets.data, deleted]),
    loaded: docs.isSuccess,
    error: docs.error ?? sets.error,
    retry: () => void refreshLibrary(),
  };
}

export async function refreshLibrary(): Promise<void> {
  await Promise.all([refresh(DOCS), refresh(SETS)]);
}

/** Makes a set, or changes the one of that id. */
export async function saveSet(id: string | null, name: string, docIds: string[]): Promise<void> {
  const body = post({ name, doc_ids: docIds });
  await (id ? request(setPath(id), { ...body, method: "PUT" }) : request("/api/document-sets", body));
  await refreshLibrary();
}

/** What is on its way from the documents panel. */
export const panelUploads = new Uploads();

/** Sends a file to the library; null when it was not taken. */
export async function addDocument(uploads: Uploads, file: File, maxBytes: number): Promise<Doc | null> {
  const doc = await uploads.send<Doc>("/api/documents", file, maxBytes);
  if (doc) await refresh(DOCS);
  return doc;
}
