import { TextLayer, type PageViewport, type PDFPageProxy, type RenderTask } from "pdfjs-dist/legacy/build/pdf.mjs";
import { useEffect, useRef, useState } from "react";
import { words } from "../../words";
import { layWords, useMarks, type Layer } from "./marks";
import type { Range } from "./matching";
import type { Pdf } from "./pdf";

/** The size of a page at scale 1, in CSS pixels. */
export interface Size {
  width: number;
  height: number;
}

interface Props {
  pdf: Pdf;
  number: number;
  /** The size of the first page, assumed for pages that have not been drawn. */
  usual: Size;
  scale: number;
  /** Whether the page is visible or close to it. Other pages stay empty. */
  near: boolean;
  marks: readonly Range[];
  /** The marks to scroll to. */
  current?: readonly Range[] | undefined;
  /** Called with the beginning of the marks to scroll to, when they are drawn. */
  onMark: (mark: HTMLElement) => void;
}

const MOST_PIXELS = 16_000_000; // maximum of a canvas: phones fail with more

/** One page of a PDF: a picture of it, its text as a transparent layer over that, and its links. */
export function PageView({ pdf, number, usual, scale, near, marks, current, onMark }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const layer = useRef<Layer | null>(null);
  const [size, setSize] = useState(usual);
  const [drawn, setDrawn] = useState(0);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    if (!near) return;
    const inside = box.current!;
    let ended = false;
    let stop = () => {};
    const draw = async () => {
      const page = await pdf.file.getPage(number);
      if (ended) return;
      const viewport = page.getViewport({ scale });
      setSize({ width: viewport.width / scale, height: viewport.height / scale });
      const canvas = document.createElement("canvas");
      const painting = paint(page, viewport, canvas);
      painting.promise.catch(() => {}); // cancelled before it is awaited
      const div = document.createElement("div");
      const scan = pdf.scan(number);
      div.className = scan ? "scan-layer" : "textLayer";
      const text = scan ? null : new TextLayer({ textContentSource: await page.getTextContent(), container: div, viewport });
      stop = () => {
        painting.cancel();
        text?.cancel();
      };
      if (ended) return stop();
      inside.replaceChildren(canvas, div);
      await Promise.all([painting.promise, text?.render()]);
      const links = await linksOf(page, viewport);
      if (ended) return;
      inside.append(...links);
      layer.current = text ? { divs: text.textDivs, texts: text.textContentItemsStr } : layWords(div, scan!);
      setDrawn((n) => n + 1);
    };
    draw().catch((err: unknown) => {
      if (ended) return;
      console.error(`Page ${number} of a PDF could not be drawn.`, err);
      setFailed(true);
    });
    return () => {
      ended = true;
      stop();
      layer.current = null;
      inside.replaceChildren();
    };
  }, [pdf, number, scale, near]);

  useMarks(layer, drawn, marks, current, onMark);

  return (
    <section
      data-page={number}
      aria-label={words.library.page(number)}
      className="pdf-page relative mx-auto mb-3 bg-white shadow-soft"
      style={{ width: size.width * scale, height: size.height * scale, ["--total-scale-factor" as string]: scale }}
    >
      <div ref={box} />
      {failed && <p className="absolute inset-0 grid place-content-center p-4 text-center text-sm text-black">{words.library.pageFailed}</p>}
    </section>
  );
}

function paint(page: PDFPageProxy, viewport: PageViewport, canvas: HTMLCanvasElement): RenderTask {
  const fine = Math.min(window.devicePixelRatio || 1, Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height)));
  canvas.width = Math.floor(viewport.width * fine);
  canvas.height = Math.floor(viewport.height * fine);
  canvas.setAttribute("aria-hidden", "true");
  return page.render({ canvas, viewport, transform: [fine, 0, 0, fine, 0, 0] });
}

/** The links of a page to http and https URLs. Files are untrusted, so other links are left out. */
async function linksOf(page: PDFPageProxy, viewport: PageViewport): Promise<HTMLElement[]> {
  const annotations = (await page.getAnnotations()) as { subtype?: string; url?: string; rect: number[] }[];
  return annotations.flatMap(({ subtype, url, rect }) => {
    if (subtype !== "Link" || !url || !/^https?:\/\//i.test(url)) return [];
    const [x1, y1, x2, y2] = viewport.convertToViewportRectangle(rect) as [number, number, number, number];
    const link = document.createElement("a");
    link.className = "pdf-link";
    link.href = url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    link.title = url;
    link.setAttribute("aria-label", words.message.newTab(url));
    Object.assign(link.style, { left: `${Math.min(x1, x2)}px`, top: `${Math.min(y1, y2)}px`, width: `${Math.abs(x2 - x1)}px`, height: `${Math.abs(y2 - y1)}px` });
    return [link];
  });
}
