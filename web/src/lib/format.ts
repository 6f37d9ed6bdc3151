import type { Confidence } from "../api/types";

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  if (n < 1_000_000) return `${Math.round(n / 1000)} kB`;
  return `${(n / 1_000_000).toFixed(1)} MB`;
}

/** Small costs keep their first two significant digits: $0.0042, $0.31, $2.10. */
export function cost(usd: number): string {
  if (usd <= 0) return "$0.00";
  if (usd >= 0.1) return `$${usd.toFixed(2)}`;
  if (usd < 0.0001) return "< $0.0001";
  return `$${Number(usd.toPrecision(2))}`;
}

export const tokens = (n: number): string => `${n.toLocaleString("en")} token${n === 1 ? "" : "s"}`;

const order: Confidence[] = ["low", "medium", "high"];

/** The weaker of the two, which is what a reader should know about. */
export function weakest(a: Confidence | undefined, b: Confidence | undefined): Confidence | undefined {
  const known = [a, b].filter((c): c is Confidence => c !== undefined && order.includes(c));
  return known.sort((x, y) => order.indexOf(x) - order.indexOf(y))[0];
}

/** A time of day, as "7:55 PM" or "19:55". */
export const clock = (date: Date, language?: string): string => date.toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" });
