import { Info } from "lucide-react";
import { useRef } from "react";
import type { Confidence } from "../api/types";
import { useConfig } from "../api/useConfig";
import { cost, lowestConfidence } from "../lib/format";
import { words } from "../words";
import { clock, dateTime, day } from "../words/intl";
import type { Metadata } from "./types";

const dots = { high: "bg-good", medium: "bg-warn", low: "bg-bad" };

/** Shows the confidence and cost of an answer in a popup. */
export function Footnote({ meta }: { meta: Metadata }) {
  const box = useRef<HTMLDetailsElement>(null);
  const confidence = lowestConfidence(meta.inference_confidence, meta.retrieval_confidence);
  const { offline } = useConfig();
  const spent = meta.tokens_used !== undefined && meta.tokens_used > 0 && !(offline && meta.cost_usd === 0); // without a model nothing is spent
  if (!confidence && !spent) return null;
  const level = (c: Confidence | undefined) => words.message.levels[c ?? "unknown"];
  const close = () => box.current?.removeAttribute("open");
  return (
    <details
      ref={box}
      className="relative"
      onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && close()}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || !box.current?.open) return;
        e.preventDefault(); // Esc must do nothing else
        close();
      }}
    >
      <summary aria-label={words.message.about} title={words.message.about} className="-ml-2 flex size-8 cursor-pointer list-none items-center justify-center rounded-md pointer-coarse:size-11 hover:bg-sunken hover:text-ink">
        <Info aria-hidden className="size-4" />
      </summary>
      <div tabIndex={-1} className="absolute bottom-full left-0 z-20 mb-1 w-72 max-w-[80vw] space-y-1.5 rounded-xl border border-line bg-surface p-3.5 text-sm text-ink shadow-float">
        {confidence && (
          <p>
            <span className="flex items-center gap-1.5 font-medium">
              <span aria-hidden className={`size-2 rounded-full ${dots[confidence]}`} />
              {words.message.confidence[confidence]}
            </span>
            <span className="mt-0.5 block text-muted">{words.message.confidenceDetail(level(meta.inference_confidence), level(meta.retrieval_confidence))}</span>
          </p>
        )}
        {spent && (
          <p>
            {meta.model && <span className="block font-medium break-words">{words.message.model(meta.model)}</span>}
            {words.message.tokens(meta.tokens_used!)}
            {meta.cost_usd !== undefined && ` · ${cost(meta.cost_usd)}`}
            {meta.web_searches !== undefined && ` · ${words.message.searches(meta.web_searches)}`}
          </p>
        )}
      </div>
    </details>
  );
}

const sameDay = (a: Date, b: Date) => a.toDateString() === b.toDateString();

/** Shows when a message was written. */
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
