import { Grip, MessagesSquare, Scaling, X } from "lucide-react";
import { useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState, type ReactNode, type Ref, type RefObject } from "react";
import { returnToDraft } from "../../composer/drafts";
import { docOf, messageContent } from "../../composer/outgoing";
import type { ComposerHandle } from "../../composer/types";
import { Extras } from "../../thread/extras";
import { Prose } from "../../thread/Prose";
import { ThreadView, useThread, type ThreadState } from "../../thread/Thread";
import { IconButton } from "../../ui/Button";
import { composing } from "../../ui/composing";
import { Drawer } from "../../ui/Dialog";
import { useMedia } from "../../ui/useMedia";
import { boardWords } from "../../words/discovery";
import { refreshBoard } from "../api";
import { mentionsOfItems, type OldMessage, type Params } from "../board";
import { ShownBoard, useShown } from "../context";
import { ConfirmAll } from "./ConfirmAll";
import { Edited, ProposalCard } from "./ProposalCard";
import { importedChat, proposedIn, proposes } from "./proposals";
import { Reference } from "./Reference";
import { useBox } from "./useBox";

export interface ChatHandle {
  /** Adds a mention of an item to the draft message. Opens the chat if it is closed. */
  mention(id: string): void;
}

const extras: Extras = {
  card: (part, over) => (proposes(part) ? <ProposalCard part={part} over={over} /> : null),
  foot: (message) => <ConfirmAll message={message} />,
  Reference,
};

/** The chat about a board: a button, and the panel that it opens. A running turn continues while the panel is closed. */
export function ChatWidget({ ref }: { ref?: Ref<ChatHandle> }) {
  const shown = useShown();
  const { board } = shown;
  const [open, setOpen] = useState(false);
  const [edited] = useState(() => new Map<string, Params>());
  const [history] = useState(board.history); // newer messages are in the thread
  const composer = useRef<ComposerHandle>(null);
  const button = useRef<HTMLButtonElement>(null);
  const waiting = useRef<string[]>([]); // ids to mention once the composer is mounted
  const phone = useMedia("(width < 640px)");
  const thread = useThread(
    board.threadId,
    {
      onActivity: () => void refreshBoard(board.id),
      onReturned: (out) => (composer.current ? composer.current.takeBack(out) : returnToDraft(board.threadId, out)),
    },
    undefined,
    { mayBeNew: true },
  );

  // Refetches the board when the answer contains a proposal that the page does not have yet.
  const last = thread.messages.at(-1);
  const unknown = last ? proposedIn(last).filter((id) => !board.proposals.some((p) => p.id === id)).join() : "";
  useEffect(() => {
    if (unknown) void refreshBoard(board.id);
  }, [unknown, last?.parts.length, board.id]);

  const mention = useCallback((id: string) => {
    if (composer.current) return composer.current.append({ category: "item", id, label: id });
    waiting.current.push(id);
    setOpen(true);
  }, []);
  useImperativeHandle(ref, () => ({ mention }), [mention]);

  const close = useCallback(() => {
    setOpen(false);
    button.current?.focus();
  }, []);
  const { reveal } = shown;
  const go = useCallback(
    (id: string) => {
      if (!phone) return reveal(id);
      setOpen(false); // the drawer covers the board
      setTimeout(() => reveal(id), 100); // after the drawer has restored the focus
    },
    [phone, reveal],
  );
  const beside = useMemo(() => ({ ...shown, reveal: go }), [shown, go]);

  const unread = useUnread(thread, open);
  const panel = (
    <ShownBoard value={beside}>
      <Extras value={extras}>
        <Edited value={edited}>
          <Talk thread={thread} history={history} composer={composer} waiting={waiting} onLeave={close} />
        </Edited>
      </Extras>
    </ShownBoard>
  );
  return (
    <>
      <button
        ref={button}
        type="button"
        aria-expanded={open}
        aria-label={`${open ? boardWords.chat.close : boardWords.chat.open}${unread > 0 ? `, ${boardWords.chat.unread(unread)}` : ""}`}
        title={open ? boardWords.chat.close : boardWords.chat.open}
        onClick={() => setOpen(!open)}
        className="fixed right-6 bottom-6 z-30 inline-flex size-12 items-center justify-center rounded-full bg-accent text-accent-ink shadow-float transition-colors hover:bg-accent-strong"
      >
        <MessagesSquare aria-hidden className="size-5.5" />
        {unread > 0 && (
          <span aria-hidden data-unread className="absolute -top-1 -right-1 inline-flex h-5.5 min-w-5.5 items-center justify-center rounded-full bg-bad px-1 text-xs font-semibold text-surface tabular-nums">
            {unread}
          </span>
        )}
      </button>
      {open && phone && (
        <Drawer title={boardWords.chat.title} side="right" onClose={close}>
          {panel}
        </Drawer>
      )}
      {open && !phone && (
        <Floating busy={thread.busy} onClose={close}>
          {panel}
        </Floating>
      )}
    </>
  );
}

/** The number of answers that arrived while the panel was closed. */
function useUnread({ view, messages, busy }: ThreadState, open: boolean): number {
  const answers = view.load === "ready" ? messages.filter((m, i) => m.role === "assistant" && !(busy && i === messages.length - 1)).length : null;
  const [seen, setSeen] = useState<number | null>(null);
  useEffect(() => {
    if (answers !== null && (open || seen === null)) setSeen(answers);
  }, [answers, open, seen]);
  return open || answers === null || seen === null ? 0 : Math.max(0, answers - seen);
}

interface TalkProps {
  thread: ThreadState;
  history: readonly OldMessage[];
  composer: RefObject<ComposerHandle | null>;
  waiting: RefObject<string[]>;
  onLeave: () => void;
}

/** The conversation, with the board's items to mention. */
function Talk({ thread, history, composer, waiting, onLeave }: TalkProps) {
  const { board } = useShown();
  const items = useMemo(() => mentionsOfItems(board.items), [board.items]);
  useEffect(() => {
    for (const id of waiting.current.splice(0)) composer.current?.append({ category: "item", id, label: id });
  }, [composer, waiting]);
  const { messages } = thread;
  const earlier = useMemo(() => importedChat(history, messages), [history, messages]);
  const ask = (text: string) => void thread.store.send({ ...messageContent(docOf(text)), attachments: [], onBusy: "supersede" });
  return (
    <ThreadView
      thread={thread}
      composer={composer}
      before={earlier.length > 0 && <Earlier messages={earlier} />}
      empty={<Start onAsk={ask} />}
      dock={{ placeholder: boardWords.chat.placeholder, locked: boardWords.chat.locked, mentionLabel: boardWords.chat.mention, items, onLeave }}
    />
  );
}

const noCite = () => {};

/** The chat of an imported board. It can only be read, not continued. */
const Earlier = ({ messages }: { messages: OldMessage[] }) => (
  <section aria-label={boardWords.chat.earlier} className="mb-4 space-y-3 border-b border-dashed border-line pb-4 text-sm">
    <p className="text-xs font-medium text-muted">{boardWords.chat.earlier}</p>
    {messages.map((m, i) =>
      m.role === "user" ? (
        <p key={i} dir="auto" className="ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-3 py-1.5 whitespace-pre-wrap">
          {m.content}
        </p>
      ) : (
        <Prose key={i} text={m.content} onCite={noCite} />
      ),
    )}
  </section>
);

/** The content of an empty chat: an introduction and suggestions. */
const Start = ({ onAsk }: { onAsk: (text: string) => void }) => (
  <div className="space-y-3 text-sm">
    <p className="text-muted">{boardWords.chat.intro}</p>
    <ul aria-label={boardWords.chat.ideas} className="flex flex-col items-start gap-2">
      {boardWords.chat.suggestions.map((text) => (
        <li key={text}>
          <button type="button" className="rounded-xl border border-line bg-surface px-3 py-1.5 text-left pointer-coarse:py-2.5 hover:border-edge hover:bg-sunken" onClick={() => onAsk(text)}>
            {text}
          </button>
        </li>
      ))}
    </ul>
  </div>
);

/** The panel over the board. Its header moves it, its upper left corner resizes it. */
function Floating({ busy, onClose, children }: { busy: boolean; onClose: () => void; children: ReactNode }) {
  const { box, move, moveKeys, resize } = useBox();
  return (
    <section
      role="dialog"
      aria-label={boardWords.chat.title}
      style={{ left: box.x, top: box.y, width: box.width, height: box.height }}
      className="fixed z-40 flex flex-col rounded-2xl border border-line bg-paper shadow-float"
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented || busy || composing(e.nativeEvent)) return; // while an answer runs, Esc stops it
        e.stopPropagation();
        onClose();
      }}
    >
      <header {...move} data-chat-header className="flex h-11 shrink-0 cursor-move touch-none items-center gap-1 rounded-t-2xl border-b border-line bg-surface pr-1.5 pl-9 select-none">
        <h3 className="min-w-0 flex-1 truncate text-sm font-semibold">{boardWords.chat.title}</h3>
        <IconButton {...moveKeys} size="small" label={boardWords.chat.move} icon={Grip} className="cursor-move" />
        <IconButton data-fixed size="small" label={boardWords.chat.close} icon={X} onClick={onClose} />
      </header>
      <IconButton {...resize} size="small" label={boardWords.chat.resize} icon={Scaling} className="absolute! top-1.5 left-1 cursor-nwse-resize touch-none" />
      <div data-mention-room className="flex min-h-0 flex-1 flex-col">
        {children}
      </div>
    </section>
  );
}
