import { QueryClient } from "@tanstack/react-query";
import { words } from "../words";
import { ApiError } from "./http";

/** The cache of server data; every list of the page is loaded through it. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, err) => failures < 3 && err instanceof ApiError && err.transient,
    },
  },
});

/** Refetches a list that is shown. TanStack Query would treat a first response that is still pending as the new one. */
export async function refresh(queryKey: string[]): Promise<void> {
  await queries.cancelQueries({ queryKey });
  await queries.invalidateQueries({ queryKey });
}

export const errorText = (err: unknown): string => (err instanceof ApiError ? err.message : words.problems.unknown);
