import { useQuery } from "@tanstack/react-query";
import { getJSON } from "../api/http";
import { refresh } from "../api/query";
import type { Use } from "./limits";

/** The reader, as the server knows them. */
export interface Me {
  /** Without an account: the cookie of this browser is all there is. */
  anonymous?: boolean;
  limits?: Use[];
}

const KEY = ["me"];
const STALE_MS = 60_000;

/** The reader; undefined until the server has answered. */
export const useMe = (): Me | undefined =>
  useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJSON<Me>("/api/me", { signal }), staleTime: STALE_MS }).data;

/** To be called when something was stored or answered, which counts against limits. */
export const refreshMe = (): Promise<void> => refresh(KEY);
