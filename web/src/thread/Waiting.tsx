import { Clock, RotateCw, X } from "lucide-react";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import type { Queued } from "./queue";

/** Messages that wait for the running turn to end. */
export function Waiting({ queued, onRemove, onRetry }: { queued: Queued[]; onRemove: (id: string) => void; onRetry: (id: string) => void }) {
  if (queued.length === 0) return null;
  return (
    <ul aria-label={words.thread.queued} className="mb-3 space-y-1.5">
      {queued.map((q) => (
        <li key={q.id} className="flex items-center gap-2.5 rounded-xl border border-dashed border-line bg-surface py-1 pr-1 pl-3.5 text-sm">
          <Clock aria-hidden className="size-4 shrink-0 text-muted" />
          <span className="min-w-0 flex-1">
            <span dir="auto" className="block truncate">
              {q.text}
            </span>
            {q.failed && <span className="block text-xs text-bad">{words.thread.notSent(q.failed)}</span>}
          </span>
          {!q.failed && <span className="shrink-0 text-xs text-muted">{words.thread.next}</span>}
          {q.failed && <IconButton size="small" icon={RotateCw} label={words.thread.sendAgain} onClick={() => onRetry(q.id)} />}
          <IconButton size="small" icon={X} label={words.thread.unqueue} onClick={() => onRemove(q.id)} />
        </li>
      ))}
    </ul>
  );
}
