import type { Confidence } from "../api/types";
import { cost, weakest } from "../lib/format";
import { words } from "../words";
import { clock, dateTime, day } from "../words/intl";
import type { Metadata } from "./types";

const dots = { high: "bg-good", medium: "bg-warn", low: "bg-bad" };

/** How sure an answer is, and what it took. */
export function Footnote({ meta }: { meta: Metadata }) {
  const confidence = weakest(meta.inference_confidence, meta.retrieval_confidence);
  const spent = meta.tokens_used !== undefined && meta.tokens_used > 0;
  const level = (c: Confidence | undefined) => words.message.levels[c ?? "unknown"];
  const detail = words.message.confidenceDetail(level(meta.inference_confidence), level(meta.retrieval_confidence));
  return (
    <>
      {confidence && (
        <span className="inline-flex items-center gap-1.5" title={detail}>
          <span aria-hidden className={`size-2 rounded-full ${dots[confidence]}`} />
          {words.message.confidence[confidence]}
        </span>
      )}
      {spent && (
        <span>
          {words.message.tokens(meta.tokens_used!)}
          {meta.cost_usd !== undefined && ` · ${cost(meta.cost_usd)}`}
          {meta.web_searches !== undefined && ` · ${words.message.searches(meta.web_searches)}`}
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
  return (
    <time dateTime={date.toISOString()} title={dateTime(date)}>
      {sameDay(date, new Date()) ? time : `${day(date)}, ${time}`}
    </time>
  );
}
