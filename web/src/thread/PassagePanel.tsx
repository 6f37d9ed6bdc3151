import { useEffect, useMemo, useRef, useState } from "react";
import { ApiError, getJSON } from "../api/http";
import type { Citation } from "../api/types";
import { excerpt } from "../lib/codepoints";
import { Button } from "../ui/Button";

const STEP = 6_000;

/** The stored text that citations' offsets count in. As JSON: read as plain text, a byte order mark would go and shift them. */
const documentText = async (id: string, signal: AbortSignal): Promise<string> =>
  (await getJSON<{ text: string }>(`/api/documents/${encodeURIComponent(id)}/text`, { signal, headers: { Accept: "application/json" } })).text;

/** A citation's quote, marked in the text of its document. */
export default function PassagePanel({ citation }: { citation: Citation }) {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState("");
  const [around, setAround] = useState(STEP);
  const mark = useRef<HTMLElement>(null);

  useEffect(() => {
    const ctl = new AbortController();
    setText(null);
    setProblem("");
    documentText(citation.doc_id ?? "", ctl.signal).then(setText, (err: unknown) => {
      if (ctl.signal.aborted) return;
      const gone = err instanceof ApiError && err.status === 404;
      setProblem(gone ? "This document has been deleted. The quote was:" : "The document could not be read. The quote was:");
    });
    return () => ctl.abort();
  }, [citation.doc_id]);

  useEffect(() => setAround(STEP), [citation]);

  const found = useMemo(
    () => (text === null || citation.start === undefined || citation.end === undefined ? null : excerpt(text, citation.start, citation.end, around)),
    [text, citation, around],
  );
  const stands = found !== null && found.quote === citation.quote;

  useEffect(() => {
    mark.current?.scrollIntoView({ block: "center" });
  }, [citation, text]);

  const more = (label: string) => (
    <Button className="my-3" onClick={() => setAround(around + STEP * 4)}>
      {label}
    </Button>
  );

  if (text === null && !problem) return <p className="px-5 py-3 text-sm text-muted">Opening the document...</p>;
  if (!stands) {
    return (
      <div className="px-5 py-3">
        <p className="text-sm text-muted">{problem || "The document has changed since this answer. The quote was:"}</p>
        <blockquote className="mt-3">
          <mark className="rounded bg-mark px-1 py-0.5 text-inherit">{citation.quote}</mark>
        </blockquote>
      </div>
    );
  }
  return (
    <div className="min-h-0 flex-1 overflow-y-auto border-t border-line px-5 py-4" tabIndex={0} role="region" aria-label={`Text of ${citation.title}`}>
      {found.moreBefore && more("Show more above")}
      <p className="text-sm leading-relaxed whitespace-pre-wrap">
        {found.before}
        <mark ref={mark} className="rounded-sm bg-mark box-decoration-clone py-0.5 text-inherit">
          {found.quote}
        </mark>
        {found.after}
      </p>
      {found.moreAfter && more("Show more below")}
    </div>
  );
}
