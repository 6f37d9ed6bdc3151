import { useQuery } from "@tanstack/react-query";
import { getJSON } from "../api/http";
import { refresh } from "../api/query";
import { words } from "../words";
import { clock } from "../words/intl";

/** How much of a bound the reader has used. */
export interface Use {
  name: string;
  used: number;
  limit: number;
  /** When a daily bound begins anew. */
  resets_at?: string;
}

const KEY = ["me"];
const NEAR = 0.8;
const STALE_MS = 60_000;

/** The bound that is nearest to its end, when little is left of it. */
export function nearest(uses: readonly Use[]): Use | undefined {
  const known = uses.filter((u) => u.limit > 0 && Object.hasOwn(words.limits.used, u.name) && u.used / u.limit >= NEAR);
  return known.sort((a, b) => b.used / b.limit - a.used / a.limit)[0];
}

/** What a person is told about a bound. */
export function describe(use: Use): string {
  const percent = Math.min(100, Math.floor((use.used / use.limit) * 100));
  const known: Readonly<Record<string, (percent: number) => string>> = words.limits.used;
  const text = known[use.name]!(percent);
  return use.resets_at ? `${text} ${words.limits.resets(clock(new Date(use.resets_at)))}` : text;
}

/** The bound that a person should know about now; undefined: none. */
export function useNearestLimit(): Use | undefined {
  const { data } = useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJSON<{ limits?: Use[] }>("/api/me", { signal }), staleTime: STALE_MS });
  return nearest(data?.limits ?? []);
}

/** To be called when something was stored or answered. */
export const refreshLimits = (): Promise<void> => refresh(KEY);
