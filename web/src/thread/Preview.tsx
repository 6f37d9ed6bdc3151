import { useEffect, useId, useRef, useState, type ReactNode, type SyntheticEvent } from "react";
import { createPortal } from "react-dom";
import type { Citation } from "../api/types";
import { words } from "../words";
import { useHeading } from "./heading";
import { QuotedText, rowsOf } from "./QuotedText";

const WIDTH = 320;
const WIDTH_OF_ROWS = 520;
const GAP = 6;
const LONGEST = 320; // maximum characters of a quote; the passage shows all of it

interface Shown {
  chip: HTMLElement;
  citation: Citation;
}

/** Shows the quote of a citation while its number is hovered or focused. Esc closes it. */
export function Previewed({ byNumber, children }: { byNumber: Map<number, Citation>; children: ReactNode }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const closing = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = (e: SyntheticEvent) => {
    const chip = (e.target as Element).closest<HTMLElement>("[data-citation]");
    const citation = chip && byNumber.get(Number(chip.dataset.citation));
    if (!citation) return;
    clearTimeout(closing.current);
    setShown({ chip, citation });
  };
  const hide = () => {
    clearTimeout(closing.current);
    closing.current = setTimeout(() => setShown(null), 150); // the pointer may move to the card
  };
  const keep = () => clearTimeout(closing.current);
  useEffect(() => () => clearTimeout(closing.current), []);
  useEffect(() => {
    if (!shown) return;
    const close = () => setShown(null);
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.preventDefault(); // Esc must not stop the turn
      e.stopPropagation();
      close();
    };
    window.addEventListener("keydown", onKey, true);
    window.addEventListener("scroll", close, true);
    return () => {
      window.removeEventListener("keydown", onKey, true);
      window.removeEventListener("scroll", close, true);
    };
  }, [shown]);
  return (
    <div onPointerOver={show} onPointerOut={hide} onFocus={show} onBlur={hide} onClick={() => setShown(null)}>
      {children}
      {shown && createPortal(<Card {...shown} onPointerEnter={keep} />, document.body)} {/* a virtualized list would contain the fixed card */}
    </div>
  );
}

function Card({ chip, citation, onPointerEnter }: Shown & { onPointerEnter: () => void }) {
  const id = useId();
  const heading = useHeading(citation);
  useEffect(() => {
    chip.setAttribute("aria-describedby", id);
    return () => chip.removeAttribute("aria-describedby");
  }, [chip, id]);
  const at = chip.getBoundingClientRect();
  const rows = rowsOf(citation.quote).length > 0;
  const width = Math.min(rows ? WIDTH_OF_ROWS : WIDTH, innerWidth - 16);
  const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
  const below = at.top < innerHeight / 2;
  const quote = [...citation.quote];
  return (
    <div
      id={id}
      role="tooltip"
      onPointerEnter={onPointerEnter}
      style={{ left, maxWidth: width, ...(below ? { top: at.bottom + GAP } : { bottom: innerHeight - at.top + GAP }) }}
      className="fixed z-40 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-sm shadow-float"
    >
      <p dir="auto" className="text-xs font-medium text-muted">
        {[citation.title || citation.url, citation.page && words.message.page(citation.page), heading !== citation.title && !rows && heading].filter(Boolean).join(" · ")}
      </p>
      <div dir="auto" className="mt-1">
        <QuotedText quote={quote.length > LONGEST ? `${quote.slice(0, LONGEST).join("")}…` : citation.quote} heading={heading} />
      </div>
    </div>
  );
}
