import { FileText, Globe, Sparkles } from "lucide-react";
import { useMemo, useState } from "react";
import type { DocRef } from "../api/types";
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
      <div role="status" aria-label={words.thread.progress}>
        {line && (
          <p className="flex items-center gap-2 text-sm font-medium">
            <Sparkles aria-hidden className="size-4 shrink-0 text-accent" />
            <span className="shimmer min-w-0">{line}</span>
          </p>
        )}
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
