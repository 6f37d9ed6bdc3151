import { clock, cost, tokens, weakest } from "../lib/format";
import type { Metadata } from "./types";

const dots = { high: "bg-good", medium: "bg-warn", low: "bg-bad" };

/** How sure an answer is, and what it took. */
export function Footnote({ meta }: { meta: Metadata }) {
  const confidence = weakest(meta.inference_confidence, meta.retrieval_confidence);
  const spent = meta.tokens_used !== undefined && meta.tokens_used > 0;
  const detail = `Understanding of the request: ${meta.inference_confidence ?? "not known"}. Match in the sources: ${meta.retrieval_confidence ?? "not known"}.`;
  return (
    <>
      {confidence && (
        <span className="inline-flex items-center gap-1.5" title={detail}>
          <span aria-hidden className={`size-2 rounded-full ${dots[confidence]}`} />
          {confidence} confidence
        </span>
      )}
      {spent && (
        <span>
          {tokens(meta.tokens_used!)}
          {meta.cost_usd !== undefined && ` · ${cost(meta.cost_usd)}`}
        </span>
      )}
    </>
  );
}

const sameDay = (a: Date, b: Date) => a.toDateString() === b.toDateString();

/** When a message was written. */
export function Time({ at }: { at: string | undefined }) {
  const date = new Date(at ?? "");
  if (Number.isNaN(date.getTime())) return null;
  const time = clock(date);
  const day = date.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {sameDay(date, new Date()) ? time : `${day}, ${time}`}
    </time>
  );
}
