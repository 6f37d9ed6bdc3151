import { useEffect, useMemo, useRef, useState } from "react";
import { highlight } from "../lib/highlights";
import Markdown from "../thread/Markdown";
import { Button } from "../ui/Button";
import { words } from "../words";
import { DocumentText } from "./DocumentText";
import { moreAbove, moreBelow, partAround } from "./extract";
import { flowing } from "./flow";
import "./reader.css";
import { headerBefore, type Span } from "./tables";

interface Props {
  title: string;
  /** The type of the document, if it is known. */
  format: string | undefined;
  /** The whole text of the document. */
  text: string;
  /** What to mark, in order. */
  marks: readonly Span[];
  /** The mark to scroll to. */
  current: number;
  /** Whether the marks are a quote, so that rows of tables are marked as a whole. */
  quoted: boolean;
}

const none: never[] = [];
const nowhere = () => {};

/** The text of a document, or the part of a long one around the current mark: Markdown rendered, tables drawn, lines of a PDF joined. */
export function TextView({ title, format, text, marks, current, quoted }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const target = marks[current];
  const [part, setPart] = useState(() => partAround(text, target));
  const [unmarked, setUnmarked] = useState<Span>(); // a mark that the rendered Markdown does not show
  const [before, setBefore] = useState({ text, target });
  if (before.text !== text || before.target !== target) {
    setBefore({ text, target });
    if (before.text !== text || (target && (target.start < part.start || target.end > part.end))) setPart(partAround(text, target));
  }
  const rendered = format === "md" && (target === undefined || unmarked !== target);
  const { start, end } = part;
  const shown = useMemo(() => (format === "pdf" ? flowing(text.slice(start, end)) : text.slice(start, end)), [format, text, start, end]);
  const inPart = useMemo(() => marks.map((m) => ({ start: m.start - start, end: m.end - start })), [marks, start]);
  const header = useMemo(() => (start > 0 ? headerBefore(text, start) : none), [text, start]);

  useEffect(() => {
    if (!target || target.start < start || target.end > end) return;
    const all = [...box.current!.querySelectorAll<HTMLElement>("mark[data-current]")];
    if (all.length === 0 && rendered) return setUnmarked(target);
    all[0]?.scrollIntoView({ block: "center", inline: "nearest" });
    if (!rendered) return;
    // The rendered Markdown knows marks only: whether they are a quote or the match of a search is added here.
    const name = quoted ? "data-cited" : "aria-current";
    const elements = quoted ? all.flatMap((m) => m.closest("tr") ?? []) : all;
    elements.forEach((e) => e.setAttribute(name, "true"));
    return () => elements.forEach((e) => e.removeAttribute(name));
  }, [target, start, end, rendered, quoted]);

  const more = (label: string, part: Span) => (
    <p className="py-3 text-center">
      <Button onClick={() => setPart(part)}>{label}</Button>
    </p>
  );
  return (
    <div ref={box} role="region" aria-label={words.library.textOf(title)} dir="auto" tabIndex={0} className="reader-text min-h-0 flex-1 overflow-y-auto border-t border-line px-5 pt-3 pb-6 text-sm leading-relaxed">
      {start > 0 && more(words.library.moreAbove, moreAbove(text, part))}
      {rendered ? (
        <Markdown text={highlight(shown, inPart, current)} citations={none} onCite={nowhere} />
      ) : (
        <div className="whitespace-pre-wrap">
          <DocumentText text={shown} marks={inPart} current={current} markRows={quoted} header={header} />
        </div>
      )}
      {end < text.length && more(words.library.moreBelow, moreBelow(text, part))}
    </div>
  );
}
