import { useQuery } from "@tanstack/react-query";
import { createContext, use } from "react";
import { getJSON } from "../api/http";
import type { Citation } from "../api/types";
import { documentPath } from "../documents/library";

/** The citation whose passage is open beside the thread. */
export const ActiveCitation = createContext<Citation | null>(null);

/** Compares values, because a reloaded answer has new objects. */
export const sameCitation = (a: Citation, b: Citation): boolean => a.n === b.n && a.chunk_id === b.chunk_id && a.start === b.start && a.quote === b.quote;

/** Whether c is the active one. */
export function useActive(c: Citation | undefined): boolean {
  const active = use(ActiveCitation);
  return c !== undefined && active !== null && sameCitation(c, active);
}

/** The heading above a quote in its document; empty if there is none. */
export function useHeading({ doc_id: doc, chunk_id: chunk, start }: Citation): string {
  const { data } = useQuery({
    queryKey: ["chunk", doc, chunk, start],
    queryFn: ({ signal }) => getJSON<{ heading?: string }>(`${documentPath(doc!)}/chunks/${encodeURIComponent(chunk!)}${start === undefined ? "" : `?at=${start}`}`, { signal }),
    enabled: doc !== undefined && chunk !== undefined,
    staleTime: Infinity,
    retry: false,
  });
  return data?.heading ?? "";
}
