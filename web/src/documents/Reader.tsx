import { ChevronDown, ChevronLeft, ChevronRight, ChevronUp, Download, ListFilter } from "lucide-react";
import { Suspense, useDeferredValue, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { download } from "../api/files";
import { errorText } from "../api/query";
import type { Citation, DocRef } from "../api/types";
import { focusMessage } from "../composer/focus";
import { setScope } from "../composer/scope";
import { hasTokens } from "../session/token";
import { placeOf } from "../shell/useRoute";
import { sameCitation } from "../thread/heading";
import { useAside, WIDE } from "../ui/Aside";
import { IconButton } from "../ui/Button";
import { SearchField } from "../ui/SearchField";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { placeOfQuote } from "./extract";
import { found } from "./finding";
import { documentPath, useLibrary } from "./library";
import { nameOf } from "./names";
import { useDocumentText } from "./text";
import { TextView } from "./TextView";
import { Pages, useView, ViewSwitch } from "./ViewSwitch";

interface Props {
  doc: DocRef;
  /** The quote to mark. */
  citation?: Citation | undefined;
  /** The citations to step through with buttons, in order; the documents may differ. */
  citations?: readonly Citation[];
  onCite?: (c: Citation) => void;
}

const none: never[] = [];
const action = "inline-flex h-9 shrink-0 items-center gap-2 rounded-lg px-2.5 text-sm font-medium text-muted transition-colors pointer-coarse:h-11 hover:bg-sunken hover:text-ink";

/** Shows a document, as its pages or as text: with a quote marked, or searched. */
export default function Reader({ doc, citation, citations = none, onCite }: Props) {
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0); // the current match
  const [before, setBefore] = useState(citation);
  if (before !== citation) {
    setBefore(citation);
    setSearch("");
  }
  const wanted = useDeferredValue(search);
  const searching = wanted.trim() !== "";
  const { docs } = useLibrary();
  const known = docs.find((d) => d.id === doc.id);
  const { view, possible, failed, choose, fail } = useView(doc.id, citation?.page !== undefined);
  const { text, error, isPaused, deleted } = useDocumentText(doc.id, view === "text");

  const matches = useMemo(() => (text === undefined ? none : found(text, wanted)), [text, wanted]);
  const quote = useMemo(() => (text === undefined || !citation ? null : placeOfQuote(text, citation)), [text, citation]);
  const marks = useMemo(() => (searching ? matches : quote ? [quote] : none), [searching, matches, quote]);
  const [onPages, setOnPages] = useState(0); // the number of matches on the pages
  const n = view === "pages" ? onPages : matches.length;
  const go = (by: number) => n > 0 && setAt((at + by + n) % n);

  const quoteOnPages = useMemo(() => citation && { text: citation.quote, page: citation.page }, [citation]);
  const searchOnPages = useMemo(() => ({ text: wanted, at }), [wanted, at]);
  const [unmarked, setUnmarked] = useState<Citation>();

  const field = useRef<HTMLDivElement>(null);
  const onKey = (e: KeyboardEvent) => {
    if (e.key.toLowerCase() !== "f" || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
    const input = field.current?.querySelector("input");
    if (!input) return;
    e.preventDefault(); // the browser finds only what is drawn
    e.stopPropagation();
    input.select();
  };
  const steps = citation && citations.length > 1 && onCite && <Steps citation={citation} citations={citations} onCite={onCite} />;
  const switcher = possible && <ViewSwitch view={view} onChoose={(v) => (choose(v), setAt(0))} />;
  return (
    <div className="flex min-h-0 flex-1 flex-col" onKeyDown={onKey}>
      <div className="flex flex-wrap items-center gap-x-1 gap-y-2 px-4 pb-2">
        {!deleted && <Ways doc={doc} />}
        {view === "text" && !deleted && switcher && <div className="ml-auto">{switcher}</div>}
      </div>
      {deleted ? (
        <div className="px-4">{steps}</div>
      ) : (
        <div ref={field} className="flex items-center gap-1 px-5 pb-3">
          <SearchField className="min-w-0 flex-1" label={words.library.searchIn} value={search} onChange={(value) => (setSearch(value), setAt(0))} onEnter={() => go(1)} onDown={() => go(1)} />
          {!search.trim() && steps}
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
      {known?.unread_pages ? <p className="px-5 pb-3 text-sm text-warn">{words.library.unreadPages(known.unread_pages, known.pages ?? known.unread_pages)}</p> : null}
      {failed && !deleted && <p className="px-5 pb-3 text-sm text-muted">{words.library.pagesFailed}</p>}
      {view === "pages" ? (
        <Suspense fallback={<Note>{words.library.opening}</Note>}>
          {citation && unmarked === citation && (
            <p role="status" className="px-5 pb-3 text-sm text-muted">
              {words.library.quoteUnmarked}
            </p>
          )}
          <Pages doc={doc} quote={quoteOnPages} search={searchOnPages} onMatches={setOnPages} onUnmarked={() => setUnmarked(citation)} onFail={fail}>
            {switcher}
          </Pages>
        </Suspense>
      ) : text === undefined || deleted ? (
        <Missing why={why(deleted, error, isPaused)} citation={deleted || error || isPaused ? citation : undefined} />
      ) : citation && !quote && !searching ? (
        <Missing why={words.library.changed} citation={citation} />
      ) : (
        <TextView title={nameOf(doc)} format={known?.format ?? (citation?.page === undefined ? undefined : "pdf")} text={text} marks={marks} current={searching ? at : 0} quoted={!searching} />
      )}
    </div>
  );
}

/** The buttons to the previous and the next citation. */
function Steps({ citation, citations, onCite }: { citation: Citation; citations: readonly Citation[]; onCite: (c: Citation) => void }) {
  const at = citations.findIndex((c) => sameCitation(c, citation));
  const step = (by: number) => {
    const to = citations[at + by];
    if (to) onCite(to);
  };
  return (
    <div role="group" aria-label={words.library.citations} className="flex items-center">
      <IconButton size="small" icon={ChevronLeft} label={words.library.previousCitation} disabled={at <= 0} onClick={() => step(-1)} />
      <span role="status" className="sr-only">
        {words.library.citationOf(at + 1, citations.length)}
      </span>
      <span aria-hidden className="px-0.5 text-xs text-muted tabular-nums">
        {words.library.matchOf(at + 1, citations.length)}
      </span>
      <IconButton size="small" icon={ChevronRight} label={words.library.nextCitation} disabled={at === citations.length - 1} onClick={() => step(1)} />
    </div>
  );
}

/** What can be done with the document as a whole. */
function Ways({ doc }: { doc: DocRef }) {
  const aside = useAside();
  const wide = useMedia(WIDE);
  const askOnly = () => {
    const place = placeOf(location.pathname);
    setScope(place?.page === "chat" ? place.id : null, { docs: [{ id: doc.id, title: nameOf(doc) }], sets: [] });
    if (!wide) aside.close();
    setTimeout(focusMessage); // after the closed panel has restored the focus
  };
  const path = `${documentPath(doc.id)}/original`;
  const save = (e: MouseEvent) => {
    if (!hasTokens()) return; // the cookie is sent with the link
    e.preventDefault();
    void download(path);
  };
  return (
    <>
      {placeOf(location.pathname)?.page !== "discovery" && (
        <button type="button" className={action} onClick={askOnly}>
          <ListFilter aria-hidden className="size-4" />
          {words.library.askOnly}
        </button>
      )}
      <a download href={path} className={action} onClick={save}>
        <Download aria-hidden className="size-4" />
        {words.library.download}
      </a>
    </>
  );
}

const Note = ({ children }: { children: string }) => <p className="px-5 py-3 text-sm text-muted">{children}</p>;

/** Says why a document, or the place of a quote, cannot be shown. The quote is kept with the answer. */
function Missing({ why, citation }: { why: string; citation: Citation | undefined }) {
  if (!citation) return <Note>{why}</Note>;
  return (
    <div className="min-h-0 overflow-y-auto px-5 py-3">
      <p className="text-sm text-muted">{words.library.quoteWas(why)}</p>
      <blockquote dir="auto" className="mt-3">
        <mark className="rounded bg-mark px-1 py-0.5 text-inherit">{citation.quote}</mark>
      </blockquote>
    </div>
  );
}

/** Why a document has no text: it was deleted, is being processed, or failed. */
function why(deleted: boolean, error: Error | null, isPaused: boolean): string {
  if (deleted) return words.library.deletedDocument;
  if (error) return errorText(error);
  return isPaused ? words.library.unreadable : words.library.opening;
}
