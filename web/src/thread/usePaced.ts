import { useLayoutEffect, useRef, useState } from "react";

export interface Pace<T> {
  items: readonly T[];
  /** Index of the item that is shown; -1 for none. */
  at: number;
  since: number;
}

export const START = { items: [], at: -1, since: 0 } as const;

/**
 * Returns what to show next and when (ms from now), or null if nothing changes.
 * Each item that is shown stays for at least ms. An undefined item is text that has
 * begun: the items before it are dropped, because the text says more. A list that became
 * shorter, or empty, is another turn or the end of one: the rest of the old list is dropped.
 */
export function nextPace<T>(p: Pace<T>, items: readonly T[], now: number, ms: number): { wait: number; pace: Pace<T> } | null {
  const restarted = items.length < p.items.length || p.at < 0;
  const at = restarted ? (items.length > 0 ? 0 : -1) : Math.max(Math.min(p.at + 1, items.length - 1), items.lastIndexOf(undefined as T));
  if (at === p.at && items === p.items) return null;
  const stays = at === p.at && at >= 0 && !restarted;
  const wait = p.at < 0 || stays ? 0 : Math.max(0, p.since + ms - now);
  return { wait, pace: { items, at, since: stays ? p.since : now + wait } };
}

/** The item of a growing list to show now. Each is shown for at least ms. */
export function usePaced<T>(items: readonly T[], ms = 300): T | undefined {
  const [pace, setPace] = useState<Pace<T>>(START);
  const latest = useRef(pace);
  latest.current = pace;
  useLayoutEffect(() => {
    const next = nextPace(latest.current, items, Date.now(), ms);
    if (!next) return;
    if (next.wait === 0) return setPace(next.pace);
    const timer = setTimeout(() => setPace({ ...next.pace, since: Date.now() }), next.wait); // a late timer must not shorten the next
    return () => clearTimeout(timer);
  }, [items, ms, pace]);
  return pace.items[pace.at];
}
