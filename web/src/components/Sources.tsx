import type { Citation } from "../api/types";
import { Icon } from "./Icon";

/** The documents and pages that an answer cites, each once, with its numbers. */
export function Sources({ citations, onCite }: { citations: Citation[]; onCite: (c: Citation) => void }) {
  const groups = new Map<string, Citation[]>();
  for (const c of citations) {
    const key = c.doc_id ?? c.url ?? c.title;
    groups.set(key, [...(groups.get(key) ?? []), c]);
  }
  if (groups.size === 0) return null;
  return (
    <ul aria-label="Sources" className="mt-3 flex flex-wrap gap-2">
      {[...groups.values()].map((group) => {
        const first = group[0]!;
        const body = (
          <>
            <Icon name={first.source === "web" ? "link" : "doc"} className="size-4 text-muted" />
            <span className="truncate">{first.title || first.url}</span>
            <span className="text-muted">{group.map((c) => c.n).join(", ")}</span>
          </>
        );
        return (
          <li key={first.n} className="max-w-full min-w-0">
            {first.source === "web" ? (
              /^https?:\/\//i.test(first.url ?? "") && (
                <a className="pill hover:border-edge" href={first.url} target="_blank" rel="noopener noreferrer">
                  {body}
                </a>
              )
            ) : (
              <button type="button" className="pill hover:border-edge" onClick={() => onCite(first)}>
                {body}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}
