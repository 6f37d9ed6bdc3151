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

/**
 * Opens the file of a document as a PDF. It rejects if the server did not keep the file, or if it cannot be read.
 * pdf.js runs no scripts of the file, and nothing is loaded from another host.
 */
async function open(id: string, signal: AbortSignal): Promise<Pdf> {
  const data = new Uint8Array(await (await request(`${documentPath(id)}/original`, { signal })).arrayBuffer());
  if (!new TextDecoder("latin1").decode(data.subarray(0, HEAD)).includes("%PDF-")) throw new Error("the stored original is not a PDF file");
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

async function itemsOf(file: PDFDocumentProxy, page: number): Promise<Item[]> {
  const { items } = await (await file.getPage(page)).getTextContent();
  return items.flatMap((i) => ("str" in i ? [{ str: i.str, hasEOL: i.hasEOL }] : []));
}

/** The file of a document as a PDF; null while it opens, or an error. */
export function usePdf(id: string): Pdf | Error | null {
  const [pdf, setPdf] = useState<Pdf | Error | null>(null);
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
