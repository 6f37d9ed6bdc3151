import { useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";
import type { Citation } from "../api/types";

/** A link with which anyone can read a copy of a conversation. It does not contain the path. */
export interface Share {
  id: string;
  title: string;
  created_at: string;
}

/** A new link. Only this response has its path. */
export interface NewShare extends Share {
  path: string;
}

/** What a link shows. */
export interface Shared {
  title: string;
  created_at: string;
  messages: { role: "user" | "assistant"; text: string; created_at: string; citations?: Citation[]; unverified?: string[] }[];
}

const base = (thread: string) => `/api/conversations/${encodeURIComponent(thread)}/shares`;
const key = (thread: string) => ["shares", thread];

export const useShares = (thread: string) => useQuery({ queryKey: key(thread), queryFn: ({ signal }) => getJSON<{ items: Share[] }>(base(thread), { signal }) });

/** Makes a link to a conversation as it is now, along the branch that ends at head. */
export async function createShare(thread: string, head: string | undefined): Promise<NewShare> {
  const made = await getJSON<NewShare>(base(thread), post({ ...(head && { head }) }));
  void refresh(key(thread));
  return made;
}

export async function revokeShare(thread: string, id: string): Promise<void> {
  await request(`${base(thread)}/${encodeURIComponent(id)}`, { method: "DELETE" });
  await refresh(key(thread));
}

/** Reads what a link shows. The request has no cookie. */
export const readShared = (token: string, signal: AbortSignal): Promise<Shared> => getJSON<Shared>(`/api/shared/${encodeURIComponent(token)}`, { signal, credentials: "omit" });
