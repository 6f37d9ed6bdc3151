import type { Conversation } from "../api/types";
import { ago } from "../lib/format";
import { Icon } from "./Icon";

interface Props {
  items: Conversation[];
  problem: string;
  current: string | null;
  onOpen: (id: string | null) => void;
  onDelete: (c: Conversation) => void;
}

export function Conversations({ items, problem, current, onOpen, onDelete }: Props) {
  return (
    <nav aria-label="Conversations" className="flex min-h-0 flex-1 flex-col px-3 pb-3">
      <button type="button" onClick={() => onOpen(null)} className="mb-3 flex items-center gap-2 rounded-xl border border-line bg-surface px-3 py-2 font-medium hover:border-edge">
        <Icon name="plus" /> New conversation
      </button>
      {problem && <p className="px-3 py-2 text-sm text-bad">{problem}</p>}
      {!problem && items.length === 0 && <p className="px-3 py-2 text-sm text-muted">Your conversations will be listed here.</p>}
      <ul className="-mx-1 min-h-0 flex-1 space-y-0.5 overflow-y-auto px-1 py-0.5">
        {items.map((c) => (
          <li key={c.id} className={`group flex items-center rounded-xl ${c.id === current ? "bg-accent-soft" : "hover:bg-sunken"}`}>
            <a
              href={`/chat/${c.id}`}
              aria-current={c.id === current ? "page" : undefined}
              className="min-w-0 flex-1 rounded-xl px-3 py-1.5"
              onClick={(e) => {
                if (e.metaKey || e.ctrlKey || e.shiftKey) return;
                e.preventDefault();
                onOpen(c.id);
              }}
            >
              <span className="block truncate text-sm">{c.title || "New conversation"}</span>
              <span className="block truncate text-xs text-muted">
                {c.status === "interrupted" ? "Waiting for your answer" : c.status === "running" ? "Answering..." : ago(c.last_message_at ?? c.created_at)}
              </span>
            </a>
            <button
              type="button"
              aria-label={`Delete conversation ${c.title || "New conversation"}`}
              className="icon-button mr-1 hidden group-focus-within:inline-flex group-hover:inline-flex pointer-coarse:inline-flex"
              onClick={() => onDelete(c)}
            >
              <Icon name="trash" className="size-4" />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
