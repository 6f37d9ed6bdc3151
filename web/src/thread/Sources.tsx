import { FileText, Globe } from "lucide-react";
import type { Citation } from "../api/types";
import { hostOf } from "../lib/host";
import { words } from "../words";
import { isWeb } from "./CitationChip";

const NUMBERS = 3; // maximum listed per document; above it, only their count is shown

/** Lists each document and page that an answer cites, with its numbers. */
export function Sources({ citations, onCite }: { citations: Citation[]; onCite: (c: Citation) => void }) {
  const groups = new Map<string, Citation[]>();
  for (const c of citations) {
    const key = c.doc_id ?? c.url ?? c.title;
    groups.set(key, [...(groups.get(key) ?? []), c]);
  }
  if (groups.size === 0) return null;
  const look = "inline-flex max-w-full items-center gap-1.5 rounded-full border border-line bg-surface px-2.5 py-0.5 text-[0.8125rem] pointer-coarse:min-h-11 pointer-coarse:px-3.5 hover:border-edge";
  return (
    <ul aria-label={words.message.sources} className="mt-3 flex flex-wrap gap-2">
      {[...groups.values()].map((group) => {
        const first = group[0]!;
        const web = first.source === "web";
        const Glyph = web ? Globe : FileText;
        const body = (
          <>
            <Glyph aria-hidden className="size-3.5 shrink-0 text-muted" />
            <span dir="auto" className="truncate">
              {first.title || first.url}
            </span>
            {web && isWeb(first.url) && <span className="max-w-40 truncate text-muted">{hostOf(first.url!, location.href)}</span>}
            <span className="shrink-0 text-muted">{group.length > NUMBERS ? words.message.quotes(group.length) : group.map((c) => c.n).join(", ")}</span>
          </>
        );
        return (
          <li key={first.n} className="max-w-full min-w-0">
            {!web && (
              <button type="button" className={look} onClick={() => onCite(first)}>
                {body}
              </button>
            )}
            {web && isWeb(first.url) && (
              <a className={look} href={first.url} target="_blank" rel="noopener noreferrer">
                {body}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}
