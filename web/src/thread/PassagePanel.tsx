import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import type { Citation } from "../api/types";
import { DocumentText } from "../documents/DocumentText";
import { useDocumentText } from "../documents/text";
import { Pages, useView, ViewSwitch } from "../documents/ViewSwitch";
import { excerpt } from "../lib/codepoints";
import { Button } from "../ui/Button";
import { words } from "../words";

const STEP = 6_000;

/** Marks a citation's quote on the pages of its document, or in its text. */
export default function PassagePanel({ citation }: { citation: Citation }) {
  const id = citation.doc_id ?? "";
  const { view, possible, failed, choose, fail } = useView(id, citation.page !== undefined);
  const [unmarked, setUnmarked] = useState<Citation | null>(null);
  const quote = useMemo(() => ({ text: citation.quote, page: citation.page }), [citation]);
  const switcher = possible && <ViewSwitch view={view} onChoose={choose} />;
  if (view === "pages") {
    return (
      <Suspense fallback={<p className="px-5 py-3 text-sm text-muted">{words.library.opening}</p>}>
        {unmarked === citation && (
          <p role="status" className="px-5 pb-3 text-sm text-muted">
            {words.library.quoteUnmarked}
          </p>
        )}
        <Pages doc={{ id, title: citation.title }} quote={quote} onUnmarked={() => setUnmarked(citation)} onFail={fail}>
          {switcher}
        </Pages>
      </Suspense>
    );
  }
  return (
    <>
      {switcher && (
        <div className="flex items-center gap-2 px-5 pb-3">
          <p className="min-w-0 flex-1 text-xs text-muted">{citation.page !== undefined && words.library.page(citation.page)}</p>
          {switcher}
        </div>
      )}
      {failed && <p className="px-5 pb-3 text-sm text-muted">{words.library.pagesFailed}</p>}
      <Passage citation={citation} />
    </>
  );
}

/** Marks a citation's quote in the text of its document. */
function Passage({ citation }: { citation: Citation }) {
  const id = citation.doc_id ?? "";
  const { text, error, isPaused, deleted } = useDocumentText(id);
  const [around, setAround] = useState(STEP);
  const mark = useRef<HTMLElement>(null);

  useEffect(() => setAround(STEP), [citation]);

  const found = useMemo(
    () => (text === undefined || deleted || citation.start === undefined || citation.end === undefined ? null : excerpt(text, citation.start, citation.end, around)),
    [text, deleted, citation, around],
  );
  const unchanged = found !== null && found.quote === citation.quote;

  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [citation, text]);

  const more = (label: string) => (
    <Button className="my-3" onClick={() => setAround(around + STEP * 4)}>
      {label}
    </Button>
  );

  const unread = text === undefined;
  if (unread && !deleted && !error && !isPaused) return <p className="px-5 py-3 text-sm text-muted">{words.library.opening}</p>;
  if (!unchanged) {
    const why = deleted ? words.library.deletedDocument : unread ? words.library.unreadable : words.library.changed;
    return (
      <div className="px-5 py-3">
        <p className="text-sm text-muted">{words.library.quoteWas(why)}</p>
        <blockquote dir="auto" className="mt-3">
          <mark className="rounded bg-mark px-1 py-0.5 text-inherit">{citation.quote}</mark>
        </blockquote>
      </div>
    );
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto border-t border-line px-5 py-4" tabIndex={0} role="region" aria-label={words.library.textOf(citation.title)}>
      {found.moreBefore && more(words.library.moreAbove)}
      <p dir="auto" className="text-sm leading-relaxed whitespace-pre-wrap">
        <DocumentText text={found.before} />
        <mark ref={mark} className="rounded-sm bg-mark box-decoration-clone py-0.5 text-inherit">
          {found.quote}
        </mark>
        <DocumentText text={found.after} />
      </p>
      {found.moreAfter && more(words.library.moreBelow)}
    </div>
  );
}
