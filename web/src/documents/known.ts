import { useQuery } from "@tanstack/react-query";
import { getJSON } from "../api/http";
import { queries } from "../api/query";
import type { DocRef } from "../api/types";

const KEY = ["known"];

/** The documents that a conversation has come to know: "those two" means them. */
export function useKnown(threadId: string | null, exists: boolean): DocRef[] {
  const { data } = useQuery({
    queryKey: [...KEY, threadId],
    queryFn: ({ signal }) => getJSON<{ documents?: DocRef[] | null }>(`/api/conversations/${encodeURIComponent(threadId!)}`, { signal }),
    enabled: threadId !== null && exists,
  });
  return data?.documents ?? [];
}

/** To be called when a turn has ended: it may know more. */
export const refreshKnown = (): Promise<void> => queries.invalidateQueries({ queryKey: KEY });
