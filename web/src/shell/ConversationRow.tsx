import { Ellipsis, Pin } from "lucide-react";
import { useRef, useState, type MouseEvent } from "react";
import { flushSync } from "react-dom";
import type { Conversation } from "../api/types";
import { found, pieces } from "../documents/finding";
import { plain } from "../lib/plain";
import { usePeople } from "../spaces/people";
import { SharedMark } from "../spaces/SharedMark";
import { IconButton } from "../ui/Button";
import { besideRow } from "../ui/rows";
import { words } from "../words";
import { dateTime } from "../words/intl";
import { ConversationMenu } from "./ConversationMenu";
import { archiveConversation, deleteConversation, titleOf } from "./conversations";
import { since } from "./groups";
import { Rename } from "./Rename";
import { chatAddress, type Go } from "./useRoute";

interface Props {
  conversation: Conversation;
  current: boolean;
  /** The search query. */
  q: string;
  onOpen: Go;
  /** While conversations are selected: whether this one is, and what selects it. */
  picked?: boolean;
  onPick?: (id: string, range: boolean) => void;
}

export function ConversationRow({ conversation: c, current, q, onOpen, picked = false, onPick }: Props) {
  const [renaming, setRenaming] = useState(false);
  const more = useRef<HTMLButtonElement>(null);
  const title = titleOf(c);
  const match = plain(c.match ?? "");

  const remove = () => {
    const next = besideRow(more.current!);
    if (current) onOpen(null, "replace"); // to the welcome page
    else requestAnimationFrame(() => next?.focus()); // after the menu has restored the focus
    deleteConversation(c, () => current && location.pathname === "/" && onOpen(c.id, "replace")); // unless the user has left since
  };

  const archive = async () => {
    const next = besideRow(more.current!);
    if ((await archiveConversation(c)) && !current) next?.focus();
  };

  const renamed = (focused: boolean) => {
    flushSync(() => setRenaming(false));
    if (focused) more.current?.focus();
  };

  if (renaming) return <Rename conversation={c} onDone={renamed} />;
  if (onPick) return <Pickable conversation={c} title={title} picked={picked} onPick={onPick} />;
  return (
    <div className={`group relative mb-px rounded-lg ${current ? "bg-accent-soft" : "hover:bg-sunken"}`}>
      <a
        href={chatAddress(c.id)}
        aria-current={current ? "page" : undefined}
        title={title}
        className="block rounded-lg py-1.5 pr-2.5 pl-2.5 text-sm group-focus-within:pr-9 group-hover:pr-9 pointer-coarse:py-3 pointer-coarse:pr-11"
        onClick={(e) => {
          if (e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return; // the browser opens a new tab or window
          e.preventDefault();
          onOpen(c.id);
        }}
      >
        <span className="flex items-baseline gap-2">
          <span dir="auto" className="min-w-0 flex-1 truncate text-left">{title}</span>
          {c.archived && q && <span className="shrink-0 text-xs text-muted">{words.shell.archived}</span>}
          {c.pinned && <Pin aria-hidden className="size-3 shrink-0 self-center text-muted" />}
          <SharedMark conversation={c} />
          <State conversation={c} />
        </span>
        {c.author && <Author id={c.author} />}
        {match && (
          <span dir="auto" className="mt-0.5 line-clamp-2 text-xs text-muted">
            {pieces(match, found(match, q)).map(({ text, match }, i) => (match === undefined ? text : <mark key={i} className="rounded-sm bg-mark text-inherit">{text}</mark>))}
          </span>
        )}
      </a>
      <ConversationMenu
        conversation={c}
        trigger={
          <IconButton
            ref={more}
            label={words.shell.options(title)}
            icon={Ellipsis}
            size="small"
            className="absolute inset-y-0 right-0.5 my-auto opacity-0 group-hover:opacity-100 focus-visible:opacity-100 data-popup-open:opacity-100 pointer-coarse:opacity-100"
          />
        }
        onRename={() => setRenaming(true)}
        onArchive={() => void archive()}
        onDelete={remove}
      />
    </div>
  );
}

/** Who shares a conversation. */
function Author({ id }: { id: string }) {
  const people = usePeople();
  return (
    <span dir="auto" className="block truncate text-xs text-muted">
      {people(id)}
    </span>
  );
}

interface PickableProps {
  conversation: Conversation;
  title: string;
  picked: boolean;
  onPick: (id: string, range: boolean) => void;
}

/** A row to select a conversation. A click with Shift selects all rows from the last clicked one. */
function Pickable({ conversation: c, title, picked, onPick }: PickableProps) {
  const pick = (e: MouseEvent) => onPick(c.id, e.shiftKey);
  return (
    <label className={`mb-px flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm select-none pointer-coarse:py-3 ${picked ? "bg-accent-soft" : "hover:bg-sunken"}`}>
      <input type="checkbox" checked={picked} aria-label={words.shell.selectChat(title)} className="size-4 shrink-0 accent-accent" onClick={pick} onChange={() => {}} />
      <span dir="auto" className="min-w-0 flex-1 truncate" title={title}>
        {title}
      </span>
      {c.pinned && <Pin aria-hidden className="size-3 shrink-0 text-muted" />}
    </label>
  );
}

/** A conversation's state: words for what runs or waits for an approval, a dot for a question, else the time of the last message. */
function State({ conversation: c }: { conversation: Conversation }) {
  if (c.status === "running") {
    // Only the opacity of a dot changes, which the browser does beside the page's work: a band over the text is painted 60 times a second.
    return (
      <span className="flex shrink-0 items-center gap-1.5 text-xs text-accent">
        <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-accent motion-reduce:animate-none" /> {words.shell.answering}
      </span>
    );
  }
  if (c.approval) return <span className="shrink-0 text-xs text-warn">{words.shell.needsApproval}</span>;
  if (c.status === "interrupted") return <span role="img" aria-label={words.shell.needsReply} title={words.shell.needsReply} className="mx-1 size-2 shrink-0 self-center rounded-full bg-warn" />;
  const last = c.last_message_at;
  return (
    <time dateTime={last} title={last && dateTime(new Date(last))} className="shrink-0 text-xs text-muted group-focus-within:invisible group-hover:invisible pointer-coarse:visible">
      {since(last)}
    </time>
  );
}
