import { useQuery } from "@tanstack/react-query";
import { createContext, use, useMemo } from "react";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";
import { useSpaceId } from "../api/space";
import type { Doc, DocSet, Page } from "../api/types";
import { Uploads } from "../api/uploads";
import { isFresh } from "../composer/newChat";
import { useDeleted } from "../ui/deletions";
import { type Embedding, type Library, pollAfter } from "./polling";

/** The name of the panel with the library. */
export const LIBRARY = "documents";

const DOCS = ["documents"];
const OF_CHAT = [...DOCS, "chat"];
const SETS = ["document-sets"];
const PAGES = 20; // of 200 items each
const enc = encodeURIComponent;

export const documentPath = (id: string) => `/api/documents/${enc(id)}`;
export const setPath = (id: string) => `/api/document-sets/${enc(id)}`;

/** Reads all items of a paged list, up to PAGES pages. */
async function all<T>(path: string, signal: AbortSignal, onPage?: (page: Page<T>) => void, more = ""): Promise<T[]> {
  const items: T[] = [];
  let cursor = "";
  for (let page = 0; page < PAGES; page++) {
    const got = await getJSON<Page<T>>(`${path}?limit=200&cursor=${enc(cursor)}${more}`, { signal });
    onPage?.(got);
    items.push(...(got.items ?? []));
    if (!got.next_cursor) break;
    cursor = got.next_cursor;
  }
  return items;
}

async function readLibrary(signal: AbortSignal): Promise<Library> {
  let embedding: Embedding | null = null;
  const docs = await all<Doc>("/api/documents", signal, (page: Page<Doc> & { embedding?: Embedding }) => {
    embedding = page.embedding ?? null;
  });
  return { docs, embedding };
}

/** The id of the conversation that the page shows, also of one without messages; null if it shows none. */
export const InChat = createContext<string | null>(null);

/** The documents that belong to the conversation, not to the library. */
function useChatDocuments(): Doc[] {
  const chat = use(InChat);
  const { data } = useQuery({
    queryKey: [...OF_CHAT, chat],
    queryFn: async ({ signal }): Promise<Library> => ({ docs: await all<Doc>("/api/documents", signal, undefined, `&conversation_id=${enc(chat!)}`), embedding: null }),
    enabled: () => chat !== null && !isFresh(chat),
    refetchInterval: (query) => pollAfter(query.state.data),
  });
  return data?.docs ?? none;
}

const none: never[] = [];

/** The documents of the library and of the conversation, and the sets; refetched while one is processed or waits for its vectors. */
export function useLibrary() {
  const deleted = useDeleted();
  const ofChat = useChatDocuments();
  const space = useSpaceId();
  const docs = useQuery({
    queryKey: [...DOCS, "library", space],
    queryFn: ({ signal }) => readLibrary(signal),
    refetchInterval: (query) => pollAfter(query.state.data),
  });
  const sets = useQuery({ queryKey: [...SETS, space], queryFn: ({ signal }) => all<DocSet>("/api/document-sets", signal) });
  // useMemo keeps the same arrays while nothing has changed, because the components that use them render often.
  return {
    docs: useMemo(() => once([...ofChat, ...(docs.data?.docs ?? [])]).filter((d) => !deleted.has(documentPath(d.id))), [ofChat, docs.data, deleted]),
    sets: useMemo(() => (sets.data ?? []).filter((s) => !deleted.has(setPath(s.id))), [sets.data, deleted]),
    embedding: docs.data?.embedding ?? null,
    loaded: docs.isSuccess,
    error: docs.error ?? sets.error,
    retry: () => void refreshLibrary(),
  };
}

/** Each document once: one that is being moved is in both lists until both are read again. */
const once = (docs: Doc[]): Doc[] => [...new Map(docs.map((d) => [d.id, d])).values()];

export async function refreshLibrary(): Promise<void> {
  await Promise.all([refresh(DOCS), refresh(SETS)]);
}

/** Changes the title of a document. */
export async function renameDocument(id: string, title: string): Promise<void> {
  await request(documentPath(id), { ...post({ title }), method: "PATCH" });
  await refreshLibrary();
}

/** Puts a document into the library, or the page's space (null), or makes it belong to a conversation. */
export async function moveDocument(id: string, conversation: string | null): Promise<void> {
  await request(documentPath(id), { ...post({ conversation_id: conversation ?? "" }), method: "PATCH" });
  await refresh(DOCS);
}

/** Moves a document into a space, or from the page's space to the person's own (""). */
export async function moveToSpace(id: string, space: string): Promise<void> {
  await request(documentPath(id), { ...post({ space_id: space }), method: "PATCH" });
  await refresh(DOCS);
}

/** Creates a set, or updates the one with that id. */
export async function saveSet(id: string | null, name: string, docIds: string[]): Promise<void> {
  const body = post({ name, doc_ids: docIds });
  await (id ? request(setPath(id), { ...body, method: "PUT" }) : request("/api/document-sets", body));
  await refreshLibrary();
}

export const panelUploads = new Uploads();

/** Uploads a file, to the library unless a field of the form names a conversation; null when that failed. */
export async function addDocument(uploads: Uploads, file: File, maxBytes: number, fields?: { conversation_id?: string; title?: string }): Promise<Doc | null> {
  const doc = await uploads.send<Doc>("/api/documents", file, maxBytes, fields);
  if (doc) await refresh(DOCS);
  return doc;
}
