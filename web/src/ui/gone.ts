import { useSyncExternalStore } from "react";
import { ApiError, request } from "../api/http";
import { wordsOf } from "../api/query";
import { toast } from "./toast";

let gone: ReadonlySet<string> = new Set();
const waiting = new Set<string>(); // hidden, not yet deleted
const listeners = new Set<() => void>();

function change(edit: (next: Set<string>) => void) {
  const next = new Set(gone);
  edit(next);
  gone = next;
  for (const changed of listeners) changed();
}

function subscribe(changed: () => void) {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** The addresses of what a person has deleted: gone from every list at once. */
export const useGone = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => gone);

const UNDO_MS = 10_000;

interface Deletion {
  /** What DELETE is sent to. */
  path: string;
  /** What is said: the deletion can be taken back while these words stand. */
  words: string;
  onUndo?: () => void;
  onDeleted: () => void;
}

/** Hides a thing at once and deletes it when the moment to take it back has passed, or the page is left. */
export function deleteLater({ path, words, onUndo, onDeleted }: Deletion): void {
  waiting.add(path);
  change((next) => next.add(path));
  const undo = () => {
    if (!waiting.delete(path)) return;
    change((next) => next.delete(path));
    onUndo?.();
  };
  const run = async () => {
    if (!waiting.delete(path)) return;
    try {
      await request(path, { method: "DELETE", keepalive: true });
      onDeleted();
    } catch (err) {
      if (err instanceof ApiError && err.status === 404) return onDeleted();
      change((next) => next.delete(path));
      toast.error(`It could not be deleted. ${wordsOf(err)}`);
    }
  };
  toast(words, { action: { label: "Undo", onClick: undo }, timeout: UNDO_MS, onClose: () => void run() });
}

addEventListener("pagehide", () => {
  for (const path of waiting) void fetch(path, { method: "DELETE", keepalive: true });
  waiting.clear();
});
