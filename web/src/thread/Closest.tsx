import { useQuery } from "@tanstack/react-query";
import { getJSON } from "../api/http";
import type { Citation } from "../api/types";
import { Passages } from "./Passages";

type Hit = Pick<Citation, "title" | "page"> & { doc_id: string; chunk_id: string; text: string; start: number; end: number };

const MOST = 3;
const LONGEST = 1_000; // maximum characters of the search query
const DOCUMENTS = 20; // maximum ids that fit into a URL

const read = (asked: string, searched: readonly string[]) => async (): Promise<Citation[]> => {
  const query = new URLSearchParams({ q: [...asked].slice(0, LONGEST).join(""), k: String(MOST) });
  if (searched.length > 0 && searched.length <= DOCUMENTS) query.set("doc_ids", searched.join(","));
  const { hits } = await getJSON<{ hits: Hit[] | null }>(`/api/search?${query}`);
  return (hits ?? []).map(({ text, ...place }, i) => ({ n: i + 1, source: "document", quote: text, ...place }));
};

/** Searches for the closest passages, for a question that does not contain them. */
export default function Closest({ asked, searched, onCite }: { asked: string; searched: readonly string[]; onCite: (c: Citation) => void }) {
  const { data = [] } = useQuery({ queryKey: ["closest", asked, ...searched], queryFn: read(asked, searched), staleTime: Infinity, retry: false });
  return <Passages citations={data} onCite={onCite} />;
}
