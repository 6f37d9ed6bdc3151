import { getJSON, post, request } from "./http";
import { openStream, type EventStream } from "./stream";
import type { Conversation, Doc, DocSet, History, Page, ResumeBody, SubmitBody } from "./types";

const enc = encodeURIComponent;

export const submit = (body: SubmitBody, signal: AbortSignal): Promise<EventStream | null> => openStream("/api/chat", post(body), signal);

export const resume = (body: ResumeBody, signal: AbortSignal): Promise<EventStream | null> => openStream("/api/chat/resume", post(body), signal);

/** Follows a turn after an event already seen, or from its beginning. */
export function attach(threadId: string, turnId: string, after: string | undefined, signal: AbortSignal): Promise<EventStream | null> {
  const headers: Record<string, string> = after ? { "Last-Event-ID": after } : {};
  return openStream(`/api/chat/stream/${enc(threadId)}?turn_id=${enc(turnId)}`, { headers }, signal);
}

export const cancel = (which: { thread_id: string; turn_id?: string; client_turn_id?: string }): Promise<Response> =>
  request("/api/chat/cancel", post({ ...which, reason: "user_cancelled" }));

export const history = (threadId: string, signal?: AbortSignal): Promise<History> => getJSON<History>(`/api/chat/history/${enc(threadId)}`, { signal: signal ?? null });

export async function conversations(): Promise<Conversation[]> {
  return (await getJSON<Page<Conversation>>("/api/conversations")).items ?? [];
}

export const deleteConversation = (id: string): Promise<Response> => request(`/api/conversations/${enc(id)}`, { method: "DELETE" });

/** Every document, page by page; the server bounds a page, the loop bounds the pages. */
export async function documents(): Promise<Doc[]> {
  const all: Doc[] = [];
  let cursor = "";
  for (let page = 0; page < 20; page++) {
    const got = await getJSON<Page<Doc>>(`/api/documents${cursor ? `?cursor=${enc(cursor)}` : ""}`);
    all.push(...(got.items ?? []));
    if (!got.next_cursor) break;
    cursor = got.next_cursor;
  }
  return all;
}

export async function documentSets(): Promise<DocSet[]> {
  return (await getJSON<Page<DocSet>>("/api/document-sets")).items ?? [];
}

export function upload(file: File): Promise<Doc> {
  const form = new FormData();
  form.append("file", file, file.name);
  return getJSON<Doc>("/api/documents", { method: "POST", body: form });
}

export const deleteDocument = (id: string): Promise<Response> => request(`/api/documents/${enc(id)}`, { method: "DELETE" });

/** The stored text that citations' offsets count in. As JSON: read as plain text, a byte order mark would go and shift them. */
export async function documentText(id: string, signal: AbortSignal): Promise<string> {
  const init = { signal, headers: { Accept: "application/json" } };
  return (await getJSON<{ text: string }>(`/api/documents/${enc(id)}/text`, init)).text;
}
