import { ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { IconButton } from "../../ui/Button";
import { words } from "../../words";
import { quoteIn, wordsIn, type Range } from "./matching";
import { PageView, type Size } from "./PageView";
import { usePdf, type Pdf } from "./pdf";
import "./pages.css";

/** A match: ranges on one page. */
interface Match {
  page: number;
  ranges: Range[];
}

export interface PagesProps {
  doc: { id: string; title: string };
  /** A quote to mark and to scroll to, and the page where it begins, if known. */
  quote?: { text: string; page?: number };
  /** Words to mark. at is the match to scroll to. */
  search?: { text: string; at: number };
  /** Called with the number of matches of the search. */
  onMatches?: (n: number) => void;
  /** Called when the quote cannot be marked. */
  onUnmarked?: () => void;
  /** Called when the document cannot be shown as pages. */
  onFail: () => void;
  /** More for the bar above the pages. */
  children?: ReactNode;
}

const MOST = 1_000; // matches
const NEAR = 1; // pages above and below the visible ones that are drawn too
const ZOOMS = [1, 1.25, 1.5, 2, 3] as const;
const EDGE = 24; // pixels beside a page
const none: never[] = [];

/** Shows a PDF as its pages. Only those on the screen are drawn. */
export default function Pages({ onFail, ...props }: PagesProps) {
  const pdf = usePdf(props.doc.id);
  const [usual, setUsual] = useState<Size | null>(null);
  const broken = pdf instanceof Error;
  useEffect(() => {
    if (broken) onFail();
  }, [broken]);
  useEffect(() => {
    if (!pdf || pdf instanceof Error) return;
    setUsual(null);
    pdf.file.getPage(1).then((page) => {
      const { width, height } = page.getViewport({ scale: 1 });
      setUsual({ width, height });
    }, onFail);
  }, [pdf]);
  if (!pdf || pdf instanceof Error || !usual) return <Bar status={words.library.opening}>{props.children}</Bar>;
  return <List pdf={pdf} usual={usual} {...props} />;
}

function Bar({ status, children }: { status: string; children: ReactNode }) {
  return (
    <div className="flex min-h-11 items-center gap-1 border-b border-line px-5 pb-2">
      <span role="status" className="min-w-0 flex-1 text-xs text-muted tabular-nums">
        {status}
      </span>
      {children}
    </div>
  );
}

function List({ pdf, usual, doc, quote, search, onMatches, onUnmarked, children }: Omit<PagesProps, "onFail"> & { pdf: Pdf; usual: Size }) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [zoom, setZoom] = useState(0);
  const scale = Math.max(0.1, ((width - EDGE) / usual.width) * ZOOMS[zoom]!);
  const count = pdf.file.numPages;
  const { first, last, page, onScroll } = useVisible(box, list, scale, width > 0);

  const quoted = useQuote(pdf, quote, onUnmarked);
  const matches = useMatches(pdf, search?.text ?? "", onMatches);
  const at = matches[search?.at ?? 0] ?? quoted[0];
  const byPage = useMemo(() => {
    const out = new Map<number, Range[]>();
    for (const m of matches.length > 0 ? matches : quoted) out.set(m.page, [...(out.get(m.page) ?? []), ...m.ranges]);
    return out;
  }, [matches, quoted]);

  // Scrolls to the page first. When the page is drawn, it scrolls to its mark.
  const target = at?.page ?? quote?.page;
  useEffect(() => {
    if (target && width > 0) list.current?.children[target - 1]?.scrollIntoView({ block: "start" });
  }, [target, width > 0]);

  return (
    <>
      <Bar status={words.library.pageOf(page, count)}>
        <IconButton size="small" icon={ZoomOut} label={words.library.zoomOut} disabled={zoom === 0} onClick={() => setZoom(zoom - 1)} />
        <IconButton size="small" icon={ZoomIn} label={words.library.zoomIn} disabled={zoom === ZOOMS.length - 1} onClick={() => setZoom(zoom + 1)} />
        {children}
      </Bar>
      <div ref={box} data-pages onScroll={onScroll} role="region" aria-label={words.library.pagesOf(doc.title)} tabIndex={0} className="relative min-h-0 flex-1 overflow-auto bg-sunken">
        {width > 0 && (
          <div ref={list} className="w-max min-w-full px-3 pt-3">
            {Array.from({ length: count }, (_, i) => (
              <PageView key={i} pdf={pdf} number={i + 1} usual={usual} scale={scale} near={i >= first - NEAR && i <= last + NEAR} marks={byPage.get(i + 1) ?? none} current={at?.page === i + 1 ? at.ranges : undefined} />
            ))}
          </div>
        )}
      </div>
    </>
  );
}

/** The width of an element, without its scrollbar; 0 until it is known. */
function useWidth(box: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const seen = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
    seen.observe(box.current!);
    return () => seen.disconnect();
  }, [box]);
  return width;
}

/** The first and the last visible page, from 0, and the page in the middle, from 1. */
function useVisible(box: React.RefObject<HTMLElement | null>, list: React.RefObject<HTMLElement | null>, scale: number, shown: boolean) {
  const [visible, setVisible] = useState({ first: 0, last: 0, page: 1 });
  const onScroll = () => {
    const view = box.current;
    const pages = list.current?.children;
    if (!view || !pages) return;
    const first = pageAt(pages, view.scrollTop);
    const last = pageAt(pages, view.scrollTop + view.clientHeight);
    const page = 1 + pageAt(pages, view.scrollTop + view.clientHeight / 2);
    setVisible((v) => (v.first === first && v.last === last && v.page === page ? v : { first, last, page }));
  };
  useEffect(onScroll, [scale, shown]);
  return { ...visible, onScroll };
}

/** The last page that begins above a height. */
function pageAt(pages: HTMLCollection, height: number): number {
  let from = 0;
  let to = pages.length - 1;
  while (from < to) {
    const middle = Math.ceil((from + to) / 2);
    if ((pages[middle] as HTMLElement).offsetTop <= height) from = middle;
    else to = middle - 1;
  }
  return from;
}

/** The matches of a quote. It is searched on its page and the next one, then on all others. */
function useQuote(pdf: Pdf, quote: PagesProps["quote"], onUnmarked?: () => void): Match[] {
  const [found, setFound] = useState<Match[]>(none);
  const { text = "", page } = quote ?? {};
  useEffect(() => {
    setFound(none);
    if (!text) return;
    let ended = false;
    const look = async () => {
      const count = pdf.file.numPages;
      const begins = [...(page && page <= count ? [page] : []), ...Array.from({ length: count }, (_, i) => i + 1).filter((n) => n !== page)];
      for (const begin of begins) {
        const two = await Promise.all([begin, begin + 1].filter((n) => n <= count).map(pdf.text));
        if (ended) return;
        const ranges = quoteIn(two, text);
        if (ranges) return setFound([...ranges].map(([n, r]) => ({ page: begin + n, ranges: r })));
      }
      onUnmarked?.();
    };
    look().catch(() => !ended && onUnmarked?.());
    return () => {
      ended = true;
    };
  }, [pdf, text, page]);
  return found;
}

/** The matches of a search. */
function useMatches(pdf: Pdf, search: string, onMatches?: (n: number) => void): Match[] {
  const [found, setFound] = useState<Match[]>(none);
  useEffect(() => {
    setFound(none);
    onMatches?.(0);
    if (!search.trim()) return;
    let ended = false;
    const look = async () => {
      const out: Match[] = [];
      for (let page = 1; page <= pdf.file.numPages && out.length < MOST; page++) {
        const items = await pdf.text(page);
        if (ended) return;
        out.push(...wordsIn(items, search).map((ranges) => ({ page, ranges })));
      }
      setFound(out.slice(0, MOST));
      onMatches?.(Math.min(out.length, MOST));
    };
    look().catch((err: unknown) => console.error("Searching a PDF failed.", err));
    return () => {
      ended = true;
    };
  }, [pdf, search]);
  return found;
}
