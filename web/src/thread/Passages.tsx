import type { Citation } from "../api/types";
import { words } from "../words";

/** The passages that come closest to an answer when the search found no good match: one of them may be the answer. */
export function Passages({ citations, onCite }: { citations: readonly Citation[]; onCite: (c: Citation) => void }) {
  if (citations.length === 0) return null;
  return (
    <div className="mb-3">
      <p className="text-sm text-muted">{words.question.closest}</p>
      <ol className="mt-1.5 space-y-1.5">
        {citations.map((c) => (
          <li key={c.chunk_id ?? c.n}>
            <button type="button" className="flex w-full gap-2.5 rounded-xl border border-line bg-surface px-3 py-2 text-left text-sm text-ink hover:border-edge" onClick={() => onCite(c)}>
              <span aria-hidden className="mt-0.5 inline-flex h-5 min-w-5 shrink-0 items-center justify-center rounded-md bg-accent-soft px-1 text-xs font-medium text-accent tabular-nums">
                {c.n}
              </span>
              <span className="min-w-0">
                <span dir="auto" className="line-clamp-3">
                  {words.message.quoted(c.quote.replace(/^#{1,6} /gm, "").trim())}
                </span>
                <span dir="auto" className="mt-0.5 block truncate text-xs text-muted">
                  {c.page === undefined ? c.title : words.question.onPage(c.title, c.page)}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
