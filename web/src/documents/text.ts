import { useQuery } from "@tanstack/react-query";
import { ApiError, getJSON } from "../api/http";
import { useDeleted } from "../ui/deletions";
import { documentPath } from "./library";

/** Query for the stored text of a document. It is JSON, because plain text loses a byte order mark, which shifts offsets. */
export const documentText = (id: string) => ({
  queryKey: ["document-text", id],
  queryFn: async ({ signal }: { signal: AbortSignal }) => (await getJSON<{ text: string }>(`${documentPath(id)}/text`, { signal, headers: { Accept: "application/json" } })).text,
  staleTime: Infinity,
});

/** The stored text of a document, which citation offsets refer to, and whether it was deleted. It is read only if it is needed. */
export function useDocumentText(id: string, needed: boolean) {
  const { data: text, error, isPaused } = useQuery({ ...documentText(id), enabled: needed });
  const deletedHere = useDeleted().has(documentPath(id));
  return { text, error, isPaused, deleted: deletedHere || (error instanceof ApiError && error.status === 404) };
}
