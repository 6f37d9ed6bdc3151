import { useQuery } from "@tanstack/react-query";
import { ApiError, getJSON } from "../api/http";
import { useDeleted } from "../ui/deletions";
import { documentPath } from "./library";

/** The stored text of a document, in which citations' offsets count, and whether it has been deleted. As JSON: read as plain text, a byte order mark would go and shift them. */
export function useDocumentText(id: string) {
  const { data: text, error, isPaused } = useQuery({
    queryKey: ["document-text", id],
    queryFn: async ({ signal }) => (await getJSON<{ text: string }>(`${documentPath(id)}/text`, { signal, headers: { Accept: "application/json" } })).text,
    staleTime: Infinity,
  });
  const deletedHere = useDeleted().has(documentPath(id));
  return { text, error, isPaused, deleted: deletedHere || (error instanceof ApiError && error.status === 404) };
}
