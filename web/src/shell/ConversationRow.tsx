import { Archive, ArchiveRestore, Ellipsis, FileDown, Pencil, Pin, PinOff, Printer, Share2, Trash2 } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState, type MouseEvent } from "react";
import { flushSync } from "react-dom";
import { errorText } from "../api/query";
import type { Conversation } from "../api/types";
import { IconButton } from "../ui/Button";
import { found, pieces } from "../documents/finding";
import { short } from "../lib/format";
import { plain } from "../lib/plain";
import { composing } from "../ui/composing";
import { deleteLater } from "../ui/deletions";
import { Menu, MenuItem, MenuTab } from "../ui/Menu";
import { besideRow } from "../ui/rows";
import { useConfig } from "../api/useConfig";
import { toast } from "../ui/toast";
import { words } from "../words";
import { dateTime } from "../words/intl";
import { readHead } from "../thread/heads";
import { changeConversation, conversationPath, printPath, refreshConversations } from "./conversations";
import { since } from "./groups";
import type { Go } from "./useRoute";

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

const ShareDialog = lazy(() => import("./ShareDialog"));

export const titleOf = (c: Conversation | null): string => c?.title || words.shell.newChat;

export function ConversationRow({ conversation: c, current, q, onOpen, picked = false, onPick }: Props) {
  const [renaming, setRenaming] = useState(false);
  const [sharing, setSharing] = useState(false);
  const { sharedLinks } = useConfig();
  const more = useRef<HTMLButtonElement>(null);
  const title = titleOf(c);
  const match = plain(c.match ?? "");

  const remove = () => {
    const next = besideRow(more.current!);
    if (current) onOpen(null, "replace"); // to the welcome page
    else requestAnimationFrame(() => next?.focus()); // after the menu has restored the focus
    deleteLater({
      path: conversationPath(c.id),
      text: words.common.deleted(short(title, 40)),
      onUndo: () => current && location.pathname === "/" && onOpen(c.id, "replace"), // unless the user has left since
      onDeleted: () => void refreshConversations(),
    });
  };

  const archive = async () => {
    const next = besideRow(more.current!);
    if (!(await changeConversation(c.id, { archived: !c.archived }))) return;
    if (!current) next?.focus();
    if (!c.archived) toast(words.shell.wasArchived(short(title, 40)), { action: { label: words.common.undo, onClick: () => void changeConversation(c.id, c.pinned ? { pinned: true } : { archived: false }) } }); // archiving has unpinned it
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
        href={`/chat/${c.id}`}
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
          <State conversation={c} />
        </span>
        {match && (
          <span dir="auto" className="mt-0.5 line-clamp-2 text-xs text-muted">
            {pieces(match, found(match, q)).map(({ text, match }, i) => (match === undefined ? text : <mark key={i} className="rounded-sm bg-mark text-inherit">{text}</mark>))}
          </span>
        )}
      </a>
      <Menu
        trigger={
          <IconButton
            ref={more}
            label={words.shell.options(title)}
            icon={Ellipsis}
            size="small"
            className="absolute inset-y-0 right-0.5 my-auto opacity-0 group-hover:opacity-100 focus-visible:opacity-100 data-popup-open:opacity-100 pointer-coarse:opacity-100"
          />
        }
      >
        <MenuItem icon={Pencil} onSelect={() => setRenaming(true)}>
          {words.shell.rename}
        </MenuItem>
        <MenuItem icon={c.pinned ? PinOff : Pin} onSelect={() => void changeConversation(c.id, { pinned: !c.pinned })}>
          {c.pinned ? words.shell.unpin : words.shell.pin}
        </MenuItem>
        {sharedLinks && (
          <MenuItem icon={Share2} onSelect={() => setSharing(true)}>
            {words.share.menu}
          </MenuItem>
        )}
        <MenuItem icon={FileDown} onSelect={() => void exportOne(c)}>
          {words.shell.exportMarkdown}
        </MenuItem>
        <MenuTab icon={Printer} href={() => printPath(c.id)}>
          {words.shell.print}
        </MenuTab>
        <MenuItem icon={c.archived ? ArchiveRestore : Archive} onSelect={() => void archive()}>
          {c.archived ? words.shell.unarchive : words.shell.archive}
        </MenuItem>
        <MenuItem icon={Trash2} danger onSelect={remove}>
          {words.shell.delete}
        </MenuItem>
      </Menu>
      {sharing && (
        <Suspense>
          <ShareDialog conversation={c} onClose={() => setSharing(false)} />
        </Suspense>
      )}
    </div>
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

/** Saves a conversation as a Markdown file. */
async function exportOne(c: Conversation): Promise<void> {
  try {
    const { fileName, markdownOf, readAll, save } = await import("../thread/exporting");
    const title = titleOf(c);
    save(fileName(title), markdownOf(title, await readAll(c.id, new AbortController().signal, readHead(c.id))));
  } catch (err) {
    toast.error(errorText(err));
  }
}

/** A conversation's state; when it is idle, the time of its last message. */
function State({ conversation: c }: { conversation: Conversation }) {
  if (c.status === "running") return <span className="shimmer shrink-0 text-xs">{words.shell.answering}</span>;
  if (c.status === "interrupted") return <span className="shrink-0 text-xs text-warn">{words.shell.needsReply}</span>;
  const last = c.last_message_at;
  return (
    <time dateTime={last} title={last && dateTime(new Date(last))} className="shrink-0 text-xs text-muted group-focus-within:invisible group-hover:invisible pointer-coarse:visible">
      {since(last)}
    </time>
  );
}

interface RenameProps {
  conversation: Conversation;
  /** Called when the input is removed, with whether it had the focus. */
  onDone: (focused: boolean) => void;
}

function Rename({ conversation: c, onDone }: RenameProps) {
  const [title, setTitle] = useState(c.title);
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  // Waits until the menu has restored the focus.
  useEffect(() => {
    const frame = requestAnimationFrame(() => input.current?.select());
    return () => cancelAnimationFrame(frame);
  }, []);
  const save = (keep: boolean) => {
    if (done.current) return; // Enter is followed by a blur
    done.current = true;
    const next = title.trim();
    const end = () => onDone(document.activeElement === input.current);
    if (keep && next !== "" && next !== c.title) void changeConversation(c.id, { title: next }).finally(end);
    else end();
  };
  return (
    <div>
      <input
        ref={input}
        dir="auto"
        aria-label={words.shell.title}
        value={title}
        maxLength={200}
        className="h-8 w-full rounded-lg border border-accent bg-surface px-2 text-sm outline-none pointer-coarse:h-11"
        onChange={(e) => setTitle(e.target.value)}
        onBlur={() => save(true)}
        onKeyDown={(e) => {
          if (composing(e.nativeEvent) || (e.key !== "Enter" && e.key !== "Escape")) return;
          e.preventDefault();
          save(e.key === "Enter");
        }}
      />
    </div>
  );
}
