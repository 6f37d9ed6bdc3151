import { PDFWorker, VerbosityLevel, getDocument, version, type PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import PdfWorker from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?worker";
import { useEffect, useState } from "react";
import { getJSON, request } from "../../api/http";
import { documentPath } from "../library";
import type { Item } from "./matching";

const MAX_IMAGE = 64_000_000; // pixels; pdf.js leaves out larger images
const HEAD = 1_024; // bytes at the start of a PDF that contain its header

/** The pages of an open document, counted from 1. */
export interface Source {
  count: number;
  /** The text of a page. */
  text(page: number): Promise<Item[]>;
  /** What OCR has read on a page; undefined if nothing. */
  scan(page: number): Word[] | undefined;
}

export interface Pdf extends Source {
  file: PDFDocumentProxy;
}

/** A document whose pages are pictures. */
export interface Picture extends Source {
  /** URLs of its pages. */
  pages: string[];
}

/** A word on a picture, and where it is: left, top, right and bottom in ten-thousandths of the page. */
export interface Word {
  text: string;
  box: [number, number, number, number];
}

type Scans = Map<number, Word[]>;

/** What OCR has read on the pages of a document. Without it, nothing can be marked there. */
async function scansOf(id: string, signal: AbortSignal): Promise<Scans> {
  try {
    const { items } = await getJSON<{ items: { page: number; words: Word[] }[] }>(`${documentPath(id)}/scans`, { signal });
    return new Map(items.map(({ page, words }) => [page, words]));
  } catch (err) {
    if (!signal.aborted) console.error("The words of scanned pages could not be loaded.", err);
    return new Map();
  }
}

const itemsOfScan = (words: readonly Word[] = []): Item[] => words.map(({ text }) => ({ str: text, hasEOL: true }));

/** How pictures begin that browsers show. */
const PICTURES: readonly [type: string, begins: RegExp][] = [
  ["image/png", /^\x89PNG/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8/],
  ["image/webp", /^RIFF....WEBP/s],
];

/**
 * Opens the file of a document as a picture or a PDF. It rejects if the server did not keep the file, or if it cannot be read.
 * pdf.js runs no scripts of the file, and nothing is loaded from another host.
 */
async function open(id: string, signal: AbortSignal): Promise<Pdf | Picture> {
  const [original, scans] = await Promise.all([request(`${documentPath(id)}/original`, { signal }), scansOf(id, signal)]);
  const data = new Uint8Array(await original.arrayBuffer());
  const pictures = (pages: string[]): Picture => ({ pages, count: pages.length, text: async (page) => itemsOfScan(scans.get(page)), scan: (page) => scans.get(page) });
  const head = String.fromCharCode(...data.subarray(0, HEAD));
  const picture = PICTURES.find(([, begins]) => begins.test(head));
  if (picture) {
    const url = URL.createObjectURL(new Blob([data], { type: picture[0] }));
    signal.addEventListener("abort", () => URL.revokeObjectURL(url));
    return pictures([url]);
  }
  if (/^(II\*\0|MM\0\*)/.test(head)) return pictures(Array.from({ length: pagesOfTIFF(data) }, (_, i) => `${documentPath(id)}/original?page=${i + 1}`));
  if (!head.includes("%PDF-")) throw new Error("the stored original is neither a PDF file nor a picture");
  const thread = new PdfWorker();
  const worker = PDFWorker.create({ port: thread, verbosity: VerbosityLevel.ERRORS });
  const task = getDocument({ data, worker, verbosity: VerbosityLevel.ERRORS, isEvalSupported: false, useWasm: false, enableXfa: false, maxImageSize: MAX_IMAGE, cMapUrl: `${location.origin}/assets/cmaps-${version}/`, cMapPacked: true });
  const close = () => {
    void task.destroy().catch(() => {});
    worker.destroy();
    thread.terminate();
  };
  signal.addEventListener("abort", close);
  try {
    const file = await task.promise;
    const texts = new Map<number, Promise<Item[]>>();
    const text = (page: number) => {
      if (!texts.has(page)) texts.set(page, scans.has(page) ? Promise.resolve(itemsOfScan(scans.get(page))) : itemsOf(file, page));
      return texts.get(page)!;
    };
    return { file, count: file.numPages, text, scan: (page) => scans.get(page) };
  } catch (err) {
    close();
    throw err;
  }
}

/** The number of pages of a TIFF, which browsers cannot show: the server makes a picture of each. */
function pagesOfTIFF(data: Uint8Array): number {
  const view = new DataView(data.buffer);
  const little = data[0] === 0x49;
  const pages = new Set<number>();
  try {
    for (let at = view.getUint32(4, little); at !== 0 && !pages.has(at); at = view.getUint32(at + 2 + 12 * view.getUint16(at, little), little)) pages.add(at);
  } catch {
    // The rest of the file is missing.
  }
  return pages.size;
}

async function itemsOf(file: PDFDocumentProxy, page: number): Promise<Item[]> {
  const { items } = await (await file.getPage(page)).getTextContent();
  return items.flatMap((i) => ("str" in i ? [{ str: i.str, hasEOL: i.hasEOL }] : []));
}

/** The file of a document; null while it opens, or an error. */
export function useFile(id: string): Pdf | Picture | Error | null {
  const [pdf, setPdf] = useState<Pdf | Picture | Error | null>(null);
  useEffect(() => {
    setPdf(null);
    const ended = new AbortController();
    open(id, ended.signal).then(
      (opened) => {
        if (!ended.signal.aborted) setPdf(opened);
      },
      (err: unknown) => {
        if (!ended.signal.aborted) setPdf(err instanceof Error ? err : new Error(String(err)));
      },
    );
    return () => ended.abort();
  }, [id]);
  return pdf;
}
