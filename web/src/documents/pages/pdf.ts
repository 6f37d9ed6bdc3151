import { PDFWorker, VerbosityLevel, getDocument, version, type PDFDocumentProxy } from "pdfjs-dist/legacy/build/pdf.mjs";
import PdfWorker from "pdfjs-dist/legacy/build/pdf.worker.min.mjs?worker";
import { useEffect, useState } from "react";
import { request } from "../../api/http";
import { documentPath } from "../library";
import type { Item } from "./matching";

const MAX_IMAGE = 64_000_000; // pixels; pdf.js leaves out larger images
const HEAD = 1_024; // bytes at the start of a PDF that contain its header

/** An open PDF. */
export interface Pdf {
  file: PDFDocumentProxy;
  /** The text of a page, counted from 1. */
  text(page: number): Promise<Item[]>;
}

/** A document whose pages are pictures. */
export interface Picture {
  /** URLs of its pages. */
  pages: string[];
}

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
  const data = new Uint8Array(await (await request(`${documentPath(id)}/original`, { signal })).arrayBuffer());
  const head = String.fromCharCode(...data.subarray(0, HEAD));
  const picture = PICTURES.find(([, begins]) => begins.test(head));
  if (picture) {
    const url = URL.createObjectURL(new Blob([data], { type: picture[0] }));
    signal.addEventListener("abort", () => URL.revokeObjectURL(url));
    return { pages: [url] };
  }
  if (/^(II\*\0|MM\0\*)/.test(head)) return { pages: Array.from({ length: pagesOfTIFF(data) }, (_, i) => `${documentPath(id)}/original?page=${i + 1}`) };
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
      if (!texts.has(page)) texts.set(page, itemsOf(file, page));
      return texts.get(page)!;
    };
    return { file, text };
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
