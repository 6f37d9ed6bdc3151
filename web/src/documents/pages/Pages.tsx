import { ZoomIn, ZoomOut } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type Dispatch, type KeyboardEvent, type ReactNode, type SetStateAction } from "react";
import { IconButton } from "../../ui/Button";
import { words } from "../../words";
import { layWords, useMarks, type Layer } from "./marks";
import { quoteIn, wordsIn, type Range } from "./matching";
import { PageView, type Size } from "./PageView";
import { useFile, type Pdf, type Picture, type Source, type Word } from "./pdf";
import "./pages.css";

/** A match: ranges on one page. */
interface Match {
  page: number;
  ranges: Range[];
}

export interface PagesProps {
  doc: { id: string; title: string };
  /** A quote to mark and to scroll to, and the page where it begins, if known. */
  quote?: { text: string; page?: number | undefined } | undefined;
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
const NARROW = 520; // pixels: a page that fits into less is too small to read
const READABLE = 13; // pixels: height of a line that can be read
const none: never[] = [];

/** Shows a PDF as its pages, or a picture. Only pages on the screen are drawn. */
export default function Pages({ onFail, ...props }: PagesProps) {
  const file = useFile(props.doc.id);
  const [usual, setUsual] = useState<Size | null>(null);
  const broken = file instanceof Error;
  useEffect(() => {
    if (broken) onFail();
  }, [broken]);
  useEffect(() => {
    if (!file || !("file" in file)) return;
    setUsual(null);
    file.file.getPage(1).then((page) => {
      const { width, height } = page.getViewport({ scale: 1 });
      setUsual({ width, height });
    }, onFail);
  }, [file]);
  if (file && "pages" in file) return <Pictures picture={file} onFail={onFail} {...props} />;
  if (!file || file instanceof Error || !usual) return <Bar>{props.children}</Bar>;
  return <List pdf={file} usual={usual} {...props} />;
}

/** Shows pages that are pictures, with marks on the words that OCR has read. */
function Pictures({ picture, doc, quote, search, onMatches, onUnmarked, onFail, children }: PagesProps & { picture: Picture }) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(0);
  const [loaded, setLoaded] = useState(0);
  const { page, onScroll } = useVisible(box, list, loaded, true);
  const { count } = picture;
  const { quoted, at, byPage } = useMatched(picture, quote, search, onMatches, onUnmarked);
  const onMark = useEnlarged(useWidth(box), quoted, setZoom);
  const target = at?.page ?? quote?.page;
  useEffect(() => {
    if (target) goTo(list, target);
  }, [target, picture]);
  return (
    <>
      <Bar page={page} count={count} onGo={(n) => goTo(list, n)}>
        <Zoom zoom={zoom} onZoom={setZoom} />
        {children}
      </Bar>
      <div ref={box} data-pages onScroll={onScroll} role="region" aria-label={words.library.pagesOf(doc.title)} tabIndex={0} className="relative min-h-0 flex-1 overflow-auto bg-sunken">
        <div ref={list} className="p-3" style={{ width: `${ZOOMS[zoom]! * 100}%` }}>
          {picture.pages.map((url, i) => (
            <PicturePage
              key={url}
              url={url}
              number={i + 1}
              scan={picture.scan(i + 1) ?? none}
              marks={byPage.get(i + 1) ?? none}
              current={at?.page === i + 1 ? at.ranges : undefined}
              zoom={zoom}
              onMark={onMark}
              onLoad={() => setLoaded((n) => n + 1)}
              onError={count === 1 ? onFail : undefined}
            />
          ))}
        </div>
      </div>
    </>
  );
}

interface PictureProps {
  url: string;
  number: number;
  scan: readonly Word[];
  marks: readonly Range[];
  current: readonly Range[] | undefined;
  zoom: number;
  onMark: (mark: HTMLElement) => void;
  onLoad: () => void;
  onError: (() => void) | undefined;
}

function PicturePage({ url, number, scan, marks, current, zoom, onMark, onLoad, onError }: PictureProps) {
  const over = useRef<HTMLDivElement>(null);
  const layer = useRef<Layer | null>(null);
  const [loaded, setLoaded] = useState(0);
  useEffect(() => {
    layer.current = layWords(over.current!, scan);
  }, [scan]);
  useMarks(layer, loaded * ZOOMS.length + zoom, marks, current, onMark);
  return (
    <div className="relative mb-3">
      <img src={url} alt={words.library.page(number)} loading="lazy" onLoad={() => (setLoaded((n) => n + 1), onLoad())} onError={onError} className="picture-page w-full bg-white shadow-soft" />
      <div ref={over} className="scan-layer" />
    </div>
  );
}

function Zoom({ zoom, onZoom }: { zoom: number; onZoom: (zoom: number) => void }) {
  return (
    <>
      <IconButton size="small" icon={ZoomOut} label={words.library.zoomOut} disabled={zoom === 0} onClick={() => onZoom(zoom - 1)} />
      <IconButton size="small" icon={ZoomIn} label={words.library.zoomIn} disabled={zoom === ZOOMS.length - 1} onClick={() => onZoom(zoom + 1)} />
    </>
  );
}

/** The bar above the pages. It has the number of the page, or why there are none yet. */
function Bar({ page = 0, count = 0, onGo, children }: { page?: number; count?: number; onGo?: (page: number) => void; children: ReactNode }) {
  return (
    <div className="flex min-h-11 items-center gap-1 border-b border-line px-5 pb-2">
      {onGo && count > 1 && <PageField page={page} count={count} onGo={onGo} />}
      <span role="status" className={onGo && count > 1 ? "sr-only" : "min-w-0 text-xs text-muted tabular-nums"}>
        {onGo ? words.library.pageOf(page, count) : words.library.opening}
      </span>
      <span className="flex-1" />
      {children}
    </div>
  );
}

/** The number of the page; writing another one there goes to it. */
function PageField({ page, count, onGo }: { page: number; count: number; onGo: (page: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const go = () => {
    const n = Number.parseInt(typed ?? "", 10);
    setTyped(null);
    if (n > 0) onGo(Math.min(n, count));
  };
  const onKey = (e: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (e.key === "Enter") go();
    else if (e.key === "Escape" && typed !== null) setTyped(null);
    else if (by) onGo(Math.min(Math.max(1, page + by), count));
    else return;
    e.preventDefault();
  };
  return (
    <label className="flex items-center gap-1.5 text-xs text-muted tabular-nums">
      <input
        aria-label={words.library.pageNumber}
        inputMode="numeric"
        autoComplete="off"
        value={typed ?? String(page)}
        size={Math.max(2, String(count).length)}
        maxLength={6}
        onFocus={(e) => e.target.select()}
        onChange={(e) => setTyped(e.target.value.replace(/\D/g, ""))}
        onKeyDown={onKey}
        onBlur={go}
        className="h-8 rounded-md border border-edge bg-surface px-1.5 text-center text-ink pointer-coarse:h-11 pointer-coarse:min-w-11"
      />
      <span aria-hidden className="whitespace-nowrap">{words.library.ofPages(count)}</span>
    </label>
  );
}

const goTo = (list: React.RefObject<HTMLElement | null>, page: number) => list.current?.children[page - 1]?.scrollIntoView({ block: "start" });

function List({ pdf, usual, doc, quote, search, onMatches, onUnmarked, children }: Omit<PagesProps, "onFail"> & { pdf: Pdf; usual: Size }) {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [zoom, setZoom] = useState(0);
  const scale = Math.max(0.1, ((width - EDGE) / usual.width) * ZOOMS[zoom]!);
  const count = pdf.file.numPages;
  const { first, last, page, onScroll } = useVisible(box, list, scale, width > 0);

  // Another size keeps the place in the document.
  const place = useRef(0); // share of the height
  const notePlace = () => {
    const { scrollTop, scrollHeight } = box.current!;
    place.current = scrollTop / scrollHeight;
  };
  useLayoutEffect(() => {
    const view = box.current!;
    if (place.current > 0) view.scrollTop = place.current * view.scrollHeight;
  }, [scale]);

  const { quoted, at, byPage } = useMatched(pdf, quote, search, onMatches, onUnmarked);

  const onMark = useEnlarged(width, quoted, setZoom, notePlace);
  // Scrolls to the page first. When the page is drawn, it scrolls to its mark.
  const target = at?.page ?? quote?.page;
  useEffect(() => {
    if (target && width > 0) goTo(list, target);
  }, [target, width > 0]);

  return (
    <>
      <Bar page={page} count={count} onGo={(n) => goTo(list, n)}>
        <Zoom zoom={zoom} onZoom={setZoom} />
        {children}
      </Bar>
      <div ref={box} data-pages onScroll={() => (notePlace(), onScroll())} role="region" aria-label={words.library.pagesOf(doc.title)} tabIndex={0} className="relative min-h-0 flex-1 overflow-auto bg-sunken">
        {width > 0 && (
          <div ref={list} className="w-max min-w-full px-3 pt-3">
            {Array.from({ length: count }, (_, i) => (
              <PageView key={i} pdf={pdf} number={i + 1} usual={usual} scale={scale} near={i >= first - NEAR && i <= last + NEAR} marks={byPage.get(i + 1) ?? none} current={at?.page === i + 1 ? at.ranges : undefined} onMark={onMark} />
            ))}
          </div>
        )}
      </div>
    </>
  );
}

/** What is marked on the pages of a document: the matches of a search, or else a quote. */
function useMatched(source: Source, quote: PagesProps["quote"], search: PagesProps["search"], onMatches?: (n: number) => void, onUnmarked?: () => void) {
  const quoted = useQuote(source, quote, onUnmarked);
  const matches = useMatches(source, search?.text ?? "", onMatches);
  const byPage = useMemo(() => {
    const out = new Map<number, Range[]>();
    for (const m of matches.length > 0 ? matches : quoted) out.set(m.page, [...(out.get(m.page) ?? []), ...m.ranges]);
    return out;
  }, [matches, quoted]);
  return { quoted, at: matches[search?.at ?? 0] ?? quoted[0], byPage };
}

/** On a phone a whole page is too small: once for each quote, it is enlarged until the quote can be read. */
function useEnlarged(width: number, quoted: Match[], setZoom: Dispatch<SetStateAction<number>>, before?: () => void) {
  const enlarged = useRef<Match>(undefined);
  const narrow = width > 0 && width < NARROW;
  return useCallback(
    (mark: HTMLElement) => {
      const first = quoted[0];
      const height = mark.getBoundingClientRect().height;
      if (!narrow || !first || !height || enlarged.current === first) return;
      enlarged.current = first;
      before?.();
      setZoom((now) => {
        const fits = ZOOMS.findIndex((z) => (height / ZOOMS[now]!) * z >= READABLE);
        return Math.max(now, fits < 0 ? ZOOMS.length - 1 : fits);
      });
    },
    [narrow, quoted],
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
function useQuote(source: Source, quote: PagesProps["quote"], onUnmarked?: () => void): Match[] {
  const [found, setFound] = useState<Match[]>(none);
  const { text = "", page } = quote ?? {};
  useEffect(() => {
    setFound(none);
    if (!text) return;
    let ended = false;
    const look = async () => {
      const { count } = source;
      const begins = [...(page && page <= count ? [page] : []), ...Array.from({ length: count }, (_, i) => i + 1).filter((n) => n !== page)];
      for (const begin of begins) {
        const two = await Promise.all([begin, begin + 1].filter((n) => n <= count).map(source.text));
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
  }, [source, text, page]);
  return found;
}

/** The matches of a search. */
function useMatches(source: Source, search: string, onMatches?: (n: number) => void): Match[] {
  const [found, setFound] = useState<Match[]>(none);
  useEffect(() => {
    setFound(none);
    onMatches?.(0);
    if (!search.trim()) return;
    let ended = false;
    const look = async () => {
      const out: Match[] = [];
      for (let page = 1; page <= source.count && out.length < MOST; page++) {
        const items = await source.text(page);
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
  }, [source, search]);
  return found;
}
