import type { Confidence } from "../api/types";
import { number } from "../words/intl";

export function bytes(n: number): string {
  if (n < 1000) return `${number(n)} B`;
  if (n < 1_000_000) return `${number(Math.round(n / 1000))} kB`;
  if (n < 1_000_000_000) return `${number(n / 1_000_000, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} MB`;
  return `${number(n / 1_000_000_000, { maximumFractionDigits: 1 })} GB`;
}

const dollars = (usd: number, options: Intl.NumberFormatOptions) => number(usd, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol", ...options });

/** Small costs keep their first two significant digits: $0.0042, $0.31, $2.10. */
export function cost(usd: number): string {
  if (usd <= 0 || usd >= 0.1) return dollars(Math.max(0, usd), { maximumFractionDigits: 2 });
  if (usd < 0.0001) return `< ${dollars(0.0001, { maximumSignificantDigits: 1 })}`;
  return dollars(usd, { maximumSignificantDigits: 2 });
}

const order: Confidence[] = ["low", "medium", "high"];

/** The lower of two confidences. */
export function lowestConfidence(a: Confidence | undefined, b: Confidence | undefined): Confidence | undefined {
  const known = [a, b].filter((c): c is Confidence => c !== undefined && order.includes(c));
  return known.sort((x, y) => order.indexOf(x) - order.indexOf(y))[0];
}

const SHORT = 50;

/** The beginning of a text on one line, at most this many characters. */
export function short(text: string, most = SHORT): string {
  const line = text.replace(/\s+/g, " ").trim();
  const letters = [...line];
  return letters.length > most ? `${letters.slice(0, most - 1).join("").trimEnd()}…` : line;
}
