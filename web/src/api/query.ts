import { QueryClient } from "@tanstack/react-query";
import { words } from "../words";
import { ApiError } from "./http";

/** What the server said, by name: every list of the page is read through it. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, err) => failures < 3 && err instanceof ApiError && err.transient,
    },
  },
});

/** Fetches a shown list again. TanStack Query would take a first answer that is still on its way for a new one. */
export async function refresh(queryKey: string[]): Promise<void> {
  await queries.cancelQueries({ queryKey });
  await queries.invalidateQueries({ queryKey });
}

export const errorText = (err: unknown): string => (err instanceof ApiError ? err.message : words.problems.unknown);
