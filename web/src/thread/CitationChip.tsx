import type { Citation } from "../api/types";
import { hostOf } from "../lib/host";
import { words } from "../words";
import { useActive } from "./heading";

// The chip is small; ::after enlarges its touch target.
const look = "relative ms-1 after:absolute after:-inset-x-1 after:-inset-y-1 pointer-coarse:after:-inset-x-1 pointer-coarse:after:-inset-y-2.5 inline-flex h-[1.35em] min-w-[1.45em] items-center justify-center rounded-md bg-accent-soft px-1 align-[0.1em] text-xs font-semibold text-accent no-underline!";

/** The number of a citation; it opens the passage or the web page. */
export function CitationChip({ n, citation, onOpen }: { n: number; citation?: Citation; onOpen: (c: Citation) => void }) {
  const active = useActive(citation);
  if (!citation) return <span className={look}>{n}</span>;
  if (citation.source === "web") {
    if (!isWeb(citation.url)) return <span className={look}>{n}</span>;
    const page = [citation.title, hostOf(citation.url!, location.href)].filter(Boolean).join(", ");
    const label = words.message.citation(n, page);
    return (
      <a className={`${look} hover:bg-accent hover:text-accent-ink`} href={citation.url} target="_blank" rel="noopener noreferrer" aria-label={words.message.newTab(label)} data-citation={n}>
        {n}
      </a>
    );
  }
  const label = words.message.citation(n, [citation.title, citation.page && words.message.page(citation.page)].filter(Boolean).join(", "));
  return (
    <button type="button" className={`${look} hover:bg-accent hover:text-accent-ink aria-[current]:bg-accent aria-[current]:text-accent-ink`} aria-label={label} aria-current={active || undefined} data-citation={n} onClick={() => onOpen(citation)}>
      {n}
    </button>
  );
}

export const isWeb = (url: string | undefined): boolean => /^https?:\/\//i.test(url ?? "");
