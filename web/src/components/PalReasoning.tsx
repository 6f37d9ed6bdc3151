import type { Live, Status } from "../state/thread";
import { usePaced } from "../state/usePaced";
import { Icon } from "./Icon";

const none: Status[] = [];

/** What the turn is doing, one line at a time, with the documents it found. */
export function PalReasoning({ live, waiting }: { live: Live | null; waiting: boolean }) {
  const paced = usePaced(live?.statuses ?? none);
  const line = words(live, waiting, paced);
  return (
    <div role="status" className="min-h-6">
      {line && (
        <p className="flex items-center gap-2 text-sm font-medium">
          <Icon name="spark" className="size-4 text-accent" />
          <span className="shimmer min-w-0">{line}</span>
        </p>
      )}
      {live && live.docs.length > 0 && (
        <ul aria-label="Documents found" className="mt-2 flex flex-wrap gap-1.5">
          {live.docs.map((d) => (
            <li key={d.id} className="pill text-muted">
              <Icon name="doc" className="size-3.5" />
              <span className="truncate">{d.title}</span>
            </li>
          ))}
        </ul>
      )}
      {live?.webQuery && (
        <p className="mt-2 flex items-center gap-1.5 text-sm text-muted">
          <Icon name="globe" className="size-4" /> {live.webQuery}
        </p>
      )}
    </div>
  );
}

function words(live: Live | null, waiting: boolean, paced: Status | undefined): string {
  if (waiting) return "";
  if (live?.stopping) return "Stopping...";
  if (live && live.trouble) return `${live.trouble} Reconnecting...`;
  if (paced) return paced.message;
  return live && live.text === "" ? "Thinking..." : "";
}
