import { ChevronDown, ChevronUp, Download, ListFilter } from "lucide-react";
import { Suspense, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { errorText } from "../api/query";
import type { DocRef } from "../api/types";
import { focusMessage } from "../composer/focus";
import { setScope } from "../composer/scope";
import { placeOf } from "../shell/useRoute";
import { Prose } from "../thread/Prose";
import { useAside, WIDE } from "../ui/Aside";
import { Button, IconButton } from "../ui/Button";
import { SearchField } from "../ui/SearchField";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { DocumentText } from "./DocumentText";
import { found, pieces } from "./finding";
import { documentPath, useLibrary } from "./library";
import { useDocumentText } from "./text";
import { Pages, useView, ViewSwitch } from "./ViewSwitch";
import { nameOf } from "./names";

const STEP = 60_000; // UTF-16 units of a long text that are shown at first, and added by each "Show more"
const AROUND = 2_000; // UTF-16 units after a match

const nowhere = () => {};

/** Shows a document: a PDF as its pages, else its text, as answers quote it; Markdown is rendered. A search marks its matches. */
export default function Reader({ doc }: { doc: DocRef }) {
  const [shown, setShown] = useState(STEP);
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search);
  const [at, setAt] = useState(0);
  const current = useRef<HTMLElement>(null);
  const { text, error, isPaused, deleted } = useDocumentText(doc.id);
  const { docs } = useLibrary();
  const known = docs.find((d) => d.id === doc.id);
  const markdown = known?.format === "md";
  const there = text !== undefined && !deleted;
  const matches = useMemo(() => (text === undefined ? [] : found(text, search)), [text, search]);
  const { view, possible, failed, choose, fail } = useView(doc.id, false);
  const [onPages, setOnPages] = useState(0); // the number of matches on the pages
  const n = view === "pages" ? onPages : matches.length;
  const match = view === "text" ? matches[at] : undefined;
  useEffect(() => {
    if (match && match.end > shown) setShown(match.end + AROUND);
    else current.current?.scrollIntoView({ block: "center" });
  }, [match, shown]);
  const aside = useAside();
  const wide = useMedia(WIDE);
  const askOnly = () => {
    const place = placeOf(location.pathname);
    setScope(place?.page === "chat" ? place.id : null, { docs: [{ id: doc.id, title: nameOf(doc) }], sets: [] });
    if (!wide) aside.close();
    setTimeout(focusMessage); // after the closed panel has restored the focus
  };
  const go = (by: number) => n > 0 && setAt((at + by + n) % n);
  const visible = there ? text.slice(0, shown) : "";
  const switcher = possible && <ViewSwitch view={view} onChoose={(v) => (choose(v), setAt(0))} />;
  return (
    <>
      {there && (
        <div className="flex flex-wrap items-center gap-2 px-5 pb-3">
          <Button icon={ListFilter} onClick={askOnly}>
            {words.library.askOnly}
          </Button>
          <a download href={`${documentPath(doc.id)}/original`} className="inline-flex h-9 items-center gap-2 rounded-lg px-3 text-sm font-medium text-muted transition-colors pointer-coarse:h-11 hover:bg-sunken hover:text-ink">
            <Download aria-hidden className="size-4" />
            {words.library.download}
          </a>
        </div>
      )}
      {there && (
        <div className="flex items-center gap-1 px-5 pb-3">
          <SearchField className="min-w-0 flex-1" label={words.library.searchIn} value={search} onChange={(value) => (setSearch(value), setAt(0))} onEnter={() => go(1)} onDown={() => go(1)} />
          {search.trim() && (
            <>
              <span role="status" className="shrink-0 px-1 text-xs text-muted tabular-nums">
                {n > 0 ? words.library.matchOf(at + 1, n) : words.composer.noMatches}
              </span>
              <IconButton size="small" icon={ChevronUp} label={words.library.previousMatch} disabled={n === 0} onClick={() => go(-1)} />
              <IconButton size="small" icon={ChevronDown} label={words.library.nextMatch} disabled={n === 0} onClick={() => go(1)} />
            </>
          )}
        </div>
      )}
      {there && known?.unread_pages ? (
        <p className="px-5 pb-3 text-sm text-warn">{words.library.unreadPages(known.unread_pages, known.pages ?? known.unread_pages)}</p>
      ) : null}
      {view === "pages" && !deleted && (
        <Suspense fallback={<p className="px-5 text-sm text-muted">{words.library.opening}</p>}>
          <Pages doc={doc} search={{ text: wanted, at }} onMatches={setOnPages} onFail={fail}>
            {switcher}
          </Pages>
        </Suspense>
      )}
      {view === "text" && switcher && <div className="flex justify-end px-5 pb-3">{switcher}</div>}
      {failed && <p className="px-5 pb-3 text-sm text-muted">{words.library.pagesFailed}</p>}
      {(view === "text" || deleted) && (
        <div role="region" aria-label={words.library.textOf(nameOf(doc))} dir="auto" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-5 pb-6 text-sm leading-relaxed">
          {!there && <p className="text-muted">{why(deleted, error, isPaused)}</p>}
          {there && n === 0 && markdown && <Prose text={visible} citations={none} onCite={nowhere} />}
          {there && (n > 0 || !markdown) && (
            <p className="whitespace-pre-wrap">
              {pieces(visible, matches).map(({ text: piece, match: i }, key) =>
                i === undefined ? (
                  <DocumentText key={key} text={piece} />
                ) : (
                  <mark key={key} ref={i === at ? current : undefined} aria-current={i === at || undefined} className="rounded-sm bg-mark text-inherit aria-[current]:outline-2 aria-[current]:outline-accent">
                    {piece}
                  </mark>
                ),
              )}
            </p>
          )}
          {there && text.length > shown && (
            <p className="pt-4 text-center">
              <Button onClick={() => setShown(shown + STEP)}>{words.common.showMore}</Button>
            </p>
          )}
        </div>
      )}
    </>
  );
}

const none: never[] = [];

/** Why a document has no text: it is being processed, or failed. */
function why(deleted: boolean, error: Error | null, isPaused: boolean): string {
  if (deleted) return words.library.deletedDocument;
  if (error) return errorText(error);
  return isPaused ? words.library.unreadable : words.library.opening;
}
