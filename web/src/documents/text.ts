import { useQuery } from "@tanstack/react-query";
import { getJSON } from "../api/http";
import { documentPath } from "./library";

/** The stored text of a document, in which citations' offsets count. As JSON: read as plain text, a byte order mark would go and shift them. */
export const useDocumentText = (id: string) =>
  useQuery({
    queryKey: ["document-text", id],
    queryFn: async ({ signal }) => (await getJSON<{ text: string }>(`${documentPath(id)}/text`, { signal, headers: { Accept: "application/json" } })).text,
    staleTime: Infinity,
  });
