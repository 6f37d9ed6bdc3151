/**
 * Calls awake when the page is shown again, and changed when the network is back or another
 * one. Returns what ends that. Elsewhere than in a page it does nothing.
 */
export function onWake(awake: () => void, changed: () => void): () => void {
  if (typeof globalThis.addEventListener !== "function") return () => {};
  const shown = () => document.visibilityState === "visible" && awake();
  const page = typeof document === "undefined" ? undefined : document;
  globalThis.addEventListener("online", changed);
  globalThis.addEventListener("pageshow", awake);
  page?.addEventListener("visibilitychange", shown);
  page?.addEventListener("resume", awake);
  return () => {
    globalThis.removeEventListener("online", changed);
    globalThis.removeEventListener("pageshow", awake);
    page?.removeEventListener("visibilitychange", shown);
    page?.removeEventListener("resume", awake);
  };
}

/** Waits for ms, or until the page wakes. Rejects when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      ended();
      signal.removeEventListener("abort", done);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(done, ms);
    const ended = onWake(done, done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
