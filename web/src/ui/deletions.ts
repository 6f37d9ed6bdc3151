import { useSyncExternalStore } from "react";
import { ApiError, request } from "../api/http";
import { errorText } from "../api/query";
import { newestToken, withToken } from "../session/token";
import { words } from "../words";
import { toast } from "./toast";

let hidden: ReadonlySet<string> = new Set();
const waiting = new Set<string>(); // hidden, not yet deleted
const listeners = new Set<() => void>();

function change(edit: (next: Set<string>) => void) {
  const next = new Set(hidden);
  edit(next);
  hidden = next;
  for (const changed of listeners) changed();
}

function subscribe(changed: () => void) {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** The URLs of things that are being deleted. Lists hide them at once. */
export const useDeleted = (): ReadonlySet<string> => useSyncExternalStore(subscribe, () => hidden);

const UNDO_MS = 10_000;

interface Deletion {
  /** The URL of the DELETE request. */
  path: string;
  /** The toast's text. The deletion can be undone while the toast is open. */
  text: string;
  onUndo?: () => void;
  onDeleted: () => void;
}

/** Hides a thing at once, and deletes it when the toast closes or the page unloads. */
export function deleteLater({ path, text, onUndo, onDeleted }: Deletion): void {
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
      toast.error(words.common.deleteFailed(errorText(err)));
    }
  };
  toast(text, { action: { label: words.common.undo, onClick: undo }, timeout: UNDO_MS, onClose: () => void run() });
}

addEventListener("pagehide", () => {
  for (const path of waiting) void fetch(path, { method: "DELETE", keepalive: true, headers: withToken(undefined, newestToken()) });
  waiting.clear();
});
