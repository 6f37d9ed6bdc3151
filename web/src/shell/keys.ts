import { useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";

/** A key with which another program acts for the user, without its text. */
export interface Key {
  id: string;
  name: string;
  created_at: string;
  /** Left out: never. */
  used_at?: string;
  /** Left out: it does not end. */
  expires_at?: string;
}

/** A key that was just made. Only this answer has its text. */
export interface NewKey extends Key {
  key: string;
}

/** The maximum length of a key's name, in characters. */
export const MAX_KEY_NAME = 100;

const QUERY = ["keys"];

export const useKeys = () => useQuery({ queryKey: QUERY, queryFn: ({ signal }) => getJSON<{ items: Key[] }>("/api/me/keys", { signal }) });

/** Makes a key that ends after so many days; 0: it does not end. */
export async function createKey(name: string, days: number): Promise<NewKey> {
  const made = await getJSON<NewKey>("/api/me/keys", post({ name, days }));
  void refresh(QUERY);
  return made;
}

export async function revokeKey(id: string): Promise<void> {
  await request(`/api/me/keys/${id}`, { method: "DELETE" });
  await refresh(QUERY);
}
