import { useSyncExternalStore } from "react";
import { ApiError, request } from "../api/http";
import { errorText, queries } from "../api/query";
import { currentSpace, forSpace, inSpace } from "../api/space";
import { newestToken, withToken } from "../session/token";
import { words } from "../words";
import { toast } from "./toast";

let hidden: ReadonlySet<string> = new Set();
const waiting = new Map<string, { path: string; sent: RequestInit }>(); // requests that are not sent yet
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

// Other tabs hide what this one is deleting, so that nobody works on with it there.
const tabs = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("palaver.deletions");
interface News {
  paths: readonly string[];
  deleting: boolean;
}

tabs?.addEventListener("message", ({ data }: MessageEvent<News>) => {
  const show = () => change((next) => data.paths.forEach((p) => next.delete(p)));
  if (!data.deleting) return show();
  change((next) => data.paths.forEach((p) => next.add(p)));
  // By then it is deleted, or the other tab has crashed before.
  setTimeout(() => void queries.invalidateQueries().finally(show), 2 * UNDO_MS);
});

interface Deletion {
  /** The URL of the request. */
  path: string;
  /** The request; absent for a DELETE. */
  init?: RequestInit;
  /** The URLs of what is deleted; absent if that is path. */
  hides?: readonly string[];
  /** Returns the URLs of what the request did not delete. */
  left?: (res: Response) => Promise<readonly string[]>;
  /** The toast's text. The deletion can be undone while the toast is open. */
  text: string;
  onUndo?: () => void;
  onDeleted: () => void;
}

/** A deletion that waits. */
export interface Waiting {
  /** Does not delete it. */
  keep(): void;
  /** Deletes it now; resolves when that is done. */
  now(): Promise<void>;
}

/** Hides a thing at once, and deletes it when the toast closes or the page unloads. */
export function deleteLater({ path, init, hides = [path], left, text, onUndo, onDeleted }: Deletion): Waiting {
  const sent = { method: "DELETE", ...init, keepalive: true, headers: forSpace(currentSpace(), init?.headers) }; // the person may go to another space meanwhile
  const key = `${path} ${hides.join(" ")}`;
  waiting.set(key, { path, sent });
  const show = (paths: readonly string[]) => {
    change((next) => paths.forEach((p) => next.delete(p)));
    tabs?.postMessage({ paths, deleting: false } satisfies News);
  };
  change((next) => hides.forEach((p) => next.add(p)));
  tabs?.postMessage({ paths: hides, deleting: true } satisfies News);
  const keep = (): boolean => {
    if (!waiting.delete(key)) return false;
    show(hides);
    return true;
  };
  const run = async () => {
    if (!waiting.delete(key)) return;
    try {
      const res = await request(path, sent);
      if (left) show(await left(res));
      onDeleted();
    } catch (err) {
      if (err instanceof ApiError && err.status === 404) return onDeleted();
      show(hides);
      toast.error(words.common.deleteFailed(errorText(err)));
    }
  };
  const close = toast(text, { action: { label: words.common.undo, onClick: () => keep() && onUndo?.() }, timeout: UNDO_MS, onClose: () => void run() });
  return {
    keep: () => void (keep() && close()),
    now: () => {
      const done = run();
      close();
      return done;
    },
  };
}

addEventListener("pagehide", () => {
  for (const { path, sent } of waiting.values()) void fetch(path, { ...sent, headers: withToken(inSpace(path, sent.headers), newestToken()) });
  waiting.clear();
});
