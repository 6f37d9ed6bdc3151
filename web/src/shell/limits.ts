import { words } from "../words";
import { clock } from "../words/intl";
import { useMe, type Use } from "./me";

const NEAR = 0.8;

/** The limit that is closest to being reached; undefined if none is at 80 %. */
export function nearest(uses: readonly Use[]): Use | undefined {
  const known = uses.filter((u) => u.limit > 0 && Object.hasOwn(words.limits.used, u.name) && u.used / u.limit >= NEAR);
  return known.sort((a, b) => b.used / b.limit - a.used / a.limit)[0];
}

/** The text of a limit's notice. */
export function limitText(use: Use): string {
  const percent = Math.min(100, Math.floor((use.used / use.limit) * 100));
  const known: Readonly<Record<string, (percent: number) => string>> = words.limits.used;
  const text = known[use.name]!(percent);
  return use.resets_at ? `${text} ${words.limits.resets(clock(new Date(use.resets_at)))}` : text;
}

/** The limit to show a notice about; undefined when there is none. */
export function useNearestLimit(): Use | undefined {
  return nearest(useMe()?.limits ?? []);
}
