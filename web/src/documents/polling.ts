import type { Doc } from "../api/types";

const POLL_MS = 1_000;
const EMBEDDING_POLL_MS = 5_000;

/** How many documents have vectors, while some have none. */
export interface Embedding {
  done: number;
  total: number;
}

export interface Library {
  docs: Doc[];
  embedding: Embedding | null;
}

/** Delay until the documents are refetched, in ms; false if nothing will change. */
export function pollAfter(library: Library | undefined): number | false {
  if (library?.docs.some((d) => d.status === "processing")) return POLL_MS;
  return library?.embedding ? EMBEDDING_POLL_MS : false;
}
