import { useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";

/** A key that lets another program act for the user, without its text. */
export interface Key {
  id: string;
  name: string;
  created_at: string;
  /** Missing if never used. */
  used_at?: string;
  /** Missing if it never expires. */
  expires_at?: string;
  /** The only space in which it works; missing if it is not bound to one. */
  space_id?: string;
}

/** A new key. Only this response has its text. */
export interface NewKey extends Key {
  key: string;
}

/** The maximum length of a key's name, in characters. */
export const MAX_KEY_NAME = 100;

const QUERY = ["keys"];

export const useKeys = () => useQuery({ queryKey: QUERY, queryFn: ({ signal }) => getJSON<{ items: Key[] }>("/api/me/keys", { signal }) });

/** Creates a key that expires after days; 0 means never. With a space, it works in that space only. */
export async function createKey(name: string, days: number, space: string): Promise<NewKey> {
  const made = await getJSON<NewKey>("/api/me/keys", post({ name, days, ...(space && { space_id: space }) }));
  void refresh(QUERY);
  return made;
}

export async function revokeKey(id: string): Promise<void> {
  await request(`/api/me/keys/${id}`, { method: "DELETE" });
  await refresh(QUERY);
}
