import { Pencil, RotateCw, X } from "lucide-react";
import { useState } from "react";
import { backToMessage } from "../composer/focus";
import type { Outgoing } from "../composer/types";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import { number } from "../words/intl";
import { MessageEditor } from "./MessageEditor";
import type { Queued } from "./queue";

interface Props {
  queued: Queued[];
  onRemove: (id: string) => void;
  onRetry: (id: string) => void;
  onEdit: (id: string, out: Outgoing) => void;
}

/** Messages that wait until the running turn has ended. They can be edited, removed, and sent again. */
export function Waiting({ queued, onRemove, onRetry, onEdit }: Props) {
  const [editing, setEditing] = useState("");
  const close = () => {
    setEditing("");
    backToMessage();
  };
  if (queued.length === 0) return null;
  return (
    <ol aria-label={words.thread.queued} className="mb-3 space-y-1.5">
      {queued.map((q, i) =>
        q.id === editing && q.message ? (
          <li key={q.id}>
            <MessageEditor
              message={q.message}
              label={words.thread.editQueued}
              saveLabel={words.common.save}
              onCancel={close}
              onSave={(out) => {
                close();
                onEdit(q.id, out);
              }}
            />
          </li>
        ) : (
          <li key={q.id} className="flex items-center gap-2.5 rounded-xl border border-dashed border-line bg-surface py-1 pr-1 pl-3.5 text-sm">
            <span aria-hidden className="w-4 shrink-0 text-center text-xs font-medium text-muted tabular-nums">
              {number(i + 1)}
            </span>
            <span className="min-w-0 flex-1">
              <span dir="auto" className="block truncate">
                {q.text}
              </span>
              {q.failed && <span className="block text-xs text-bad">{words.thread.notSent(q.failed)}</span>}
            </span>
            {q.failed && <IconButton size="small" icon={RotateCw} label={words.thread.sendAgain} onClick={() => onRetry(q.id)} />}
            {q.message && <IconButton size="small" icon={Pencil} label={words.thread.editQueued} onClick={() => setEditing(q.id)} />}
            <IconButton size="small" icon={X} label={words.thread.unqueue} onClick={() => onRemove(q.id)} />
          </li>
        ),
      )}
    </ol>
  );
}
