import { FileText, Globe, Sparkles } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import type { DocRef } from "../api/types";
import { useConfig } from "../api/useConfig";
import { cost } from "../lib/format";
import { words } from "../words";
import { status as statusText, worded } from "../words/wire";
import type { Status } from "./types";
import { usePaced } from "./usePaced";

interface Props {
  running: boolean;
  /** Whether the answer has text. */
  begun: boolean;
  /** Whether text streams now. */
  writing: boolean;
  stopping: boolean;
  /** Why the page reconnects; empty while it is connected. */
  problem: string;
  statuses: Status[];
  docs: DocRef[];
  /** Documents of the message that are being processed: the turn waits for them. */
  processing: readonly DocRef[];
}

const none: Status[] = [];

/** Returns the statuses with a gap (undefined) wherever text streamed: no status is shown then. */
function useStory(statuses: Status[], writing: boolean): (Status | undefined)[] {
  const [pauses, setPauses] = useState<number[]>([]); // status counts before each gap
  const { length } = statuses;
  if (pauses.some((n) => n > length)) setPauses([]); // a new turn
  else if (writing && pauses.at(-1) !== length) setPauses([...pauses, length]);
  return useMemo(() => statuses.flatMap((s, i) => (pauses.includes(i + 1) ? [s, undefined] : [s])), [statuses, pauses]);
}

/** Shows what the turn does, one line at a time, and the documents it found. It keeps its height while a turn runs, so that nothing moves. */
export function PalReasoning({ running, begun, writing, stopping, problem, statuses, docs, processing }: Props) {
  const shownStatuses = useMemo(() => (running ? statuses : none), [running, statuses]);
  const paced = usePaced(useStory(shownStatuses, writing));
  const query = running ? statuses.findLast((s) => s.web_query)?.web_query : undefined;
  const waits = !begun && processing.length > 0;
  const step = waits ? words.thread.waitingFor(processing.map((d) => d.title)) : paced ? statusText(paced) : begun ? "" : worded({ message_code: "status.model" }, "");
  const line = !running ? (paced ? statusText(paced) : "") : stopping ? words.composer.stopping : problem ? words.thread.reconnecting(problem) : step;
  return (
    <div className={running || line ? "min-h-16" : undefined}>
      <div className="flex flex-wrap items-baseline">
        <div role="status" className="not-empty:me-3" aria-label={words.thread.progress}>
          {line && (
            <p className="flex items-center gap-2 text-sm font-medium">
              <Sparkles aria-hidden className="size-4 shrink-0 text-accent" />
              <span className="shimmer min-w-0">{line}</span>
            </p>
          )}
        </div>
        {running && <SoFar known={statuses.findLast((s) => s.so_far)?.so_far} />}
      </div>
      {running && docs.length > 0 && (
        <ul aria-label={words.thread.documentsFound} className="mt-2 flex flex-wrap gap-1.5">
          {docs.map((d) => (
            <li key={d.id} className="pill text-muted">
              <FileText aria-hidden className="size-3.5 shrink-0" />
              <span className="truncate">{d.title}</span>
            </li>
          ))}
        </ul>
      )}
      {query && (
        <p className="mt-2 flex items-center gap-1.5 text-sm text-muted italic">
          <Globe aria-hidden className="size-4 shrink-0" /> “{query}”
        </p>
      )}
    </div>
  );
}

const SHOWN_AFTER = 2; // seconds: a short turn shows nothing

/** Shows the time, the steps and the cost of the running turn. It is no live region: the time would be read out every second. */
function SoFar({ known }: { known: Status["so_far"] }) {
  const { offline } = useConfig();
  const [since, setSince] = useState(() => Date.now());
  const [now, setNow] = useState(since);
  const took = known?.took_ms ?? 0;
  useEffect(() => setSince((s) => Math.min(s, Date.now() - took)), [took]); // the page may have been opened while the turn ran
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.floor((now - since) / 1000);
  if (seconds < SHOWN_AFTER) return null;
  const steps = known && !offline ? ` · ${words.thread.steps(known.calls)}` : "";
  const spent = known?.cost_usd !== undefined && !offline ? ` · ${cost(known.cost_usd)}` : "";
  return (
    <span role="group" aria-label={words.thread.soFar} className="text-xs text-muted tabular-nums">
      {words.thread.seconds(seconds)}
      {steps}
      {spent}
    </span>
  );
}
