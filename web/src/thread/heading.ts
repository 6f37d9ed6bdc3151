import { useQuery } from "@tanstack/react-query";
import { createContext, use } from "react";
import { getJSON } from "../api/http";
import type { Citation } from "../api/types";
import { documentPath } from "../documents/library";

/** The citation whose passage is open beside the thread. */
export const ActiveCitation = createContext<Citation | null>(null);

/** Whether c is the active one. It compares values, because a reloaded answer has new objects. */
export function useActive(c: Citation | undefined): boolean {
  const active = use(ActiveCitation);
  return c !== undefined && active !== null && active.n === c.n && active.chunk_id === c.chunk_id && active.start === c.start && active.quote === c.quote;
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
