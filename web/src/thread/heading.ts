import { useQuery } from "@tanstack/react-query";
import { createContext, use } from "react";
import { getJSON } from "../api/http";
import type { Citation } from "../api/types";
import { documentPath } from "../documents/library";

/** The citation whose passage stands beside the conversation. */
export const ActiveCitation = createContext<Citation | null>(null);

/** Whether that is the one; an answer that has been read again has new objects of the same content. */
export function useActive(c: Citation | undefined): boolean {
  const active = use(ActiveCitation);
  return c !== undefined && active !== null && active.n === c.n && active.chunk_id === c.chunk_id && active.start === c.start && active.quote === c.quote;
}

/** The heading under which a quote stands in its document; empty when there is none. */
export function useHeading({ doc_id: doc, chunk_id: chunk }: Citation): string {
  const { data } = useQuery({
    queryKey: ["chunk", doc, chunk],
    queryFn: ({ signal }) => getJSON<{ heading?: string }>(`${documentPath(doc!)}/chunks/${encodeURIComponent(chunk!)}`, { signal }),
    enabled: doc !== undefined && chunk !== undefined,
    staleTime: Infinity,
    retry: false,
  });
  return data?.heading ?? "";
}
