import { useQueries } from "@tanstack/react-query";
import { CornerDownRight } from "lucide-react";
import { useMemo } from "react";
import type { Citation } from "../api/types";
import type { Node } from "../composer/outgoing";
import { useLibrary } from "../documents/library";
import { documentText } from "../documents/text";
import { BYTES } from "../shell/ideas";
import { words } from "../words";
import { followUps } from "./followUps";

const DOCUMENTS = 4; // maximum documents that are read for their headings

interface Props {
  citations: readonly Citation[];
  /** The text of all messages of the user, and the actions of the answers. */
  said: string;
  onAsk: (doc: Node) => void;
}

/** Suggests follow-up questions. A click sends one. */
export default function FollowUps({ citations, said, onAsk }: Props) {
  const { docs } = useLibrary();
  const cited = useMemo(() => {
    const ids = new Set(citations.map((c) => c.doc_id));
    return docs.filter((d) => ids.has(d.id)).slice(0, DOCUMENTS);
  }, [docs, citations]);
  const texts = useQueries({
    queries: cited.map((d) => ({ ...documentText(d.id), enabled: d.bytes <= BYTES, retry: false })),
    combine: (results) => results.map((r) => ({ text: r.data, waits: r.isFetching })),
  });
  const ideas = useMemo(
    () => (texts.some((t) => t.waits) ? [] : followUps(citations, cited, new Map(cited.flatMap((d, i) => (texts[i]?.text === undefined ? [] : [[d.id, texts[i].text] as const]))), said)),
    [citations, cited, texts, said],
  );
  if (ideas.length === 0) return null;
  return (
    <section aria-label={words.message.followUps} className="mt-1 border-t border-line pt-3">
      <ul className="space-y-0.5">
        {ideas.map((idea) => (
          <li key={idea.label}>
            <button type="button" className="-mx-2 flex items-start gap-2.5 rounded-lg px-2 py-1.5 text-left text-sm text-muted pointer-coarse:min-h-11 hover:bg-sunken hover:text-ink" onClick={() => onAsk(idea.doc)}>
              <CornerDownRight aria-hidden className="mt-0.5 size-4 shrink-0" />
              <span dir="auto" className="min-w-0">
                {idea.label}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
