import { QueryClient } from "@tanstack/react-query";
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

export const wordsOf = (err: unknown): string => (err instanceof ApiError ? err.message : "Something went wrong. Please try again.");
