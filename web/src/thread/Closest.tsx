import { useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { getJSON } from "../api/http";
import type { Citation } from "../api/types";
import { words } from "../words";

interface Hit {
  doc_id: string;
  title: string;
  chunk_id: string;
  text: string;
  start: number;
  end: number;
}

const MOST = 3;
const LONGEST = 1_000; // maximum characters of the search query
const DOCUMENTS = 20; // maximum ids that fit into a URL

const read = (asked: string, searched: readonly string[]) => async (): Promise<Hit[]> => {
  const query = new URLSearchParams({ q: [...asked].slice(0, LONGEST).join(""), k: String(MOST) });
  if (searched.length > 0 && searched.length <= DOCUMENTS) query.set("doc_ids", searched.join(","));
  return (await getJSON<{ hits: Hit[] | null }>(`/api/search?${query}`)).hits ?? [];
};

/** Shows the closest passages when the search found no good match: one of them may be the answer. */
export default function Closest({ asked, searched, onCite }: { asked: string; searched: readonly string[]; onCite: (c: Citation) => void }) {
  const { data: hits = [] } = useQuery({ queryKey: ["closest", asked, ...searched], queryFn: read(asked, searched), staleTime: Infinity, retry: false });
  if (hits.length === 0) return null;
  return (
    <div className="mb-3">
      <h3 className="text-xs font-medium text-muted">{words.question.closest}</h3>
      <ul className="mt-1.5 space-y-1.5">
        {hits.map((h, i) => (
          <li key={h.chunk_id}>
            <button
              type="button"
              className="block w-full rounded-xl border border-line px-3 py-2 text-left text-sm hover:border-edge"
              onClick={() => onCite({ n: i + 1, source: "document", title: h.title, doc_id: h.doc_id, chunk_id: h.chunk_id, quote: h.text, start: h.start, end: h.end })}
            >
              <span className="flex items-center gap-1.5 text-xs text-muted">
                <FileText aria-hidden className="size-3.5 shrink-0" />
                <span dir="auto" className="truncate">
                  {h.title}
                </span>
              </span>
              <span dir="auto" className="mt-0.5 line-clamp-2">
                {h.text.replace(/^#{1,6} /gm, "")}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
