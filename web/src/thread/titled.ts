import { createContext } from "react";
import type { Doc, DocRef } from "../api/types";

const SHORTEST = 3; // letters and digits of a name that stands for a document

const key = (name: string): string => name.normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();

/** Finds the document that a name in an answer stands for. A title that several have is no name; their labels are. */
export function byName(docs: readonly Doc[]): (name: string) => DocRef | undefined {
  const named = new Map<string, DocRef | null>();
  for (const { id, title, label } of docs) {
    for (const k of new Set([key(title), key(label ?? title)])) named.set(k, named.has(k) ? null : { id, title });
  }
  return (name) => (key(name).length < SHORTEST ? undefined : (named.get(key(name)) ?? undefined));
}

/** The bold names with which items of lists begin in an answer. */
const listed = (text: string): string[] => [...text.matchAll(/^[-*] \*\*(.+?)\*\*/gm)].map((m) => m[1]!);

/** Whether an answer lists documents: it cites nothing, and items of a list begin with their names. */
export const listsDocuments = (text: string, find: (name: string) => DocRef | undefined): boolean => listed(text).some((name) => find(name) !== undefined);

/** Whether an answer may list documents that the page does not know yet: another tab or the API may have added them. */
export const mayListDocuments = (text: string): boolean => listed(text).length > 0;

/** The documents that names in answers open. Without it, names are only bold. */
export const Titled = createContext<{ find: (name: string) => DocRef | undefined; onRead: (doc: DocRef) => void; onLibrary: () => void } | null>(null);
