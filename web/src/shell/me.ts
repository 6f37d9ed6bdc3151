import { useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";

/** How much of a limit the user has used. */
export interface Use {
  name: string;
  used: number;
  limit: number;
  /** When a daily limit is reset. */
  resets_at?: string;
}

/** The current user. */
export interface Me {
  id?: string;
  /** Whether the user has no account and is known by this browser's cookie only. */
  anonymous?: boolean;
  /** Whether the user may open the page of administrators. */
  admin?: boolean;
  limits?: Use[];
  industry?: string;
  location?: string;
  /** How the user wants answers. */
  instructions?: string;
  hide_samples?: boolean;
}

/** The user's profile: industry and place for web searches, how to answer, and whether the library hides shared documents. */
export type Profile = Pick<Me, "industry" | "location" | "instructions" | "hide_samples">;

/** The maximum length of a profile field, in characters. */
export const MAX_PROFILE = 200;

/** The maximum length of the instructions, in characters. */
export const MAX_INSTRUCTIONS = 1500;

/** Saves what has changed of a profile. */
export async function saveProfile({ industry, location, instructions, hide_samples }: Profile, change: Profile): Promise<void> {
  await request("/api/me", { ...post({ industry, location, instructions, hide_samples, ...change }), method: "PUT" });
  await refreshMe();
}

const KEY = ["me"];
const STALE_MS = 60_000;

/** The current user; undefined while loading. */
export const useMe = (): Me | undefined =>
  useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJSON<Me>("/api/me", { signal }), staleTime: STALE_MS }).data;

/** Call it after something was stored or answered, because it counts towards a limit. */
export const refreshMe = (): Promise<void> => refresh(KEY);

/** Ends the session of this browser, or of all other browsers. */
export const signOut = (which: "this" | "others") => request(`/api/me/sessions?which=${which}`, { method: "DELETE" });
