import { useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";
import type { Use } from "./limits";

/** The reader, as the server knows them. */
export interface Me {
  /** Without an account: the cookie of this browser is all there is. */
  anonymous?: boolean;
  limits?: Use[];
  industry?: string;
  location?: string;
}

/** What a person says about themselves; web searches use it. */
export interface Profile {
  industry: string;
  location: string;
}

/** The longest of its fields that the server takes, in characters. */
export const MAX_PROFILE = 200;

export async function saveProfile(profile: Profile): Promise<void> {
  await request("/api/me", { ...post(profile), method: "PUT" });
  await refreshMe();
}

const KEY = ["me"];
const STALE_MS = 60_000;

/** The reader; undefined until the server has answered. */
export const useMe = (): Me | undefined =>
  useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJSON<Me>("/api/me", { signal }), staleTime: STALE_MS }).data;

/** To be called when something was stored or answered, which counts against limits. */
export const refreshMe = (): Promise<void> => refresh(KEY);

/** Ends the session of this browser, or of all others. */
export const signOut = (which: "this" | "others") => request(`/api/me/sessions?which=${which}`, { method: "DELETE" });
