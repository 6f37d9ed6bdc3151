import { ArrowDown } from "lucide-react";
import { use, useCallback, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import { useConfig } from "../api/useConfig";
import type { Citation, DocRef } from "../api/types";
import type { Outgoing } from "../composer/types";
import { backToMessage } from "../composer/focus";
import { Button, IconButton } from "../ui/Button";
import { ListedDiv } from "../ui/Listed";
import { words } from "../words";
import { AssistantMessage } from "./AssistantMessage";
import { FindBar } from "./FindBar";
import { agentOf, isWithdrawn, modelOf, newAgents, pendingQuestion, textOf, turnAt, turnOf, userAt } from "./parts";
import { QuoteSelection } from "./QuoteSelection";
import type { ThreadStore, View } from "./store";
import { versionsOf } from "./tree";
import type { Message } from "./types";
import { useFind } from "./useFind";
import { usePicked } from "./usePicked";
import { useReader } from "./useReader";
import { Shared } from "./sharing";
import { UserMessage } from "./UserMessage";

interface Props {
  store: ThreadStore;
  view: View;
  messages: Message[];
  busy: boolean;
  writing: boolean;
  onCite: (c: Citation) => void;
  onRead: (doc: DocRef) => void;
  /** Quotes a part of an answer in the next message. */
  onQuote: (text: string) => void;
  /** Whether Ctrl+F finds words in it. */
  finds: boolean;
  /** Content above the first message. */
  before?: ReactNode;
  /** Content below the last message. */
  children: ReactNode;
}

/** The text that the message at i answers. */
const askedBefore = (messages: readonly Message[], i: number): string => {
  const m = messages[i - 1];
  return m?.role === "user" ? textOf(m) : "";
};

const EARLY = 600;
const BUFFER = 3000; // px rendered above and below the view, for screen readers and for find in page
const NEWEST = 20; // messages that are always rendered: while a list scrolls down, virtua drops the rows above the view, and a streaming answer scrolls all the time
const FIRST = 8; // messages that are rendered first, when the list opens

/** The virtualized list of messages. It stays at the end unless the reader has scrolled up. */
export function Messages({ store, view, messages: all, busy, writing, onCite, onRead, onQuote, finds, before, children }: Props) {
  // The empty answer of a withdrawn message is hidden; the message itself says that it was withdrawn.
  const messages = useMemo(() => all.filter((m) => !isWithdrawn(m)), [all]);
  const withdrawn = useMemo(() => new Set(all.filter(isWithdrawn).map(turnOf)), [all]);

  const newest = messages.findLast((m) => m.role === "user");
  const asks = !busy && pendingQuestion(messages) !== null;
  const reader = useReader(busy, newest?.metadata?.server_id === undefined ? newest?.id : undefined, asks); // a message without server_id was just sent
  const { box, list } = reader;
  const [picked, show] = usePicked(store, reader);
  const rows = useRef<VirtualizerHandle>(null);
  const find = useFind(finds, store, view, messages, reader, rows);
  const above = useRef<HTMLDivElement>(null);

  const onScroll = () => {
    reader.onScroll();
    if (box.current && box.current.scrollTop < EARLY && view.more && !view.moreProblem) void store.loadMore();
  };

  // Without shift, older messages that are prepended would move the text being read.
  const first = messages[0]?.id;
  const [seen, setSeen] = useState({ first, count: messages.length });
  const prepended = seen.first !== first && messages.length > seen.count && messages[messages.length - seen.count]?.id === seen.first;
  useEffect(() => setSeen({ first, count: messages.length }), [first, messages.length]);

  // Height above the list, in px.
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => setMargin(above.current?.offsetHeight ?? 0), [view.more, view.moreProblem, before, find.isOpen]);

  const [editing, setEditing] = useState<string | null>(null);
  const { agents, models } = useConfig();
  const newcomers = newAgents(messages, agents[0]?.name);
  const edit = useCallback(
    (turn: string, out: Outgoing) => {
      const ofTurn = store.chat.messages.filter((m) => turnOf(m) === turn);
      const agent = agents.find((a) => a.name === agentOf(ofTurn))?.name;
      const model = models.find((m) => m.name === modelOf(ofTurn))?.name;
      void store.edit(turn, { ...out, ...(agent && { agent }), ...(model && { model }) });
      backToMessage();
    },
    [store, agents, models],
  );
  const regenerate = useCallback(
    (turn: string) => {
      void store.regenerate(turn);
      backToMessage();
    },
    [store],
  );
  const end = messages.length - 1;
  const readOnly = use(Shared).author !== undefined;
  const edited = messages.findIndex((m) => m.id === editing);
  const editedLeft = editing !== null && edited < 0;
  useEffect(() => {
    if (editedLeft) setEditing(null);
  }, [editedLeft]);
  const opened = useDeferredValue(true, false); // what is in view is painted before what is around it
  const newestRows = Array.from({ length: Math.min(opened ? NEWEST : FIRST, messages.length) }, (_, i) => end - i);
  const kept = [edited, userAt(messages, picked), find.index, ...newestRows].filter((i) => i >= 0);

  return (
    <div className="relative min-h-0 flex-1">
      {find.isOpen && <FindBar find={find} />}
      <QuoteSelection box={box} onQuote={onQuote} />
      <div
        ref={box}
        onScroll={onScroll}
        {...reader.moves}
        tabIndex={0}
        role="region"
        aria-label={words.thread.conversation}
        className="conversation h-full overflow-y-auto -outline-offset-2"
      >
        <div className="mx-auto w-full max-w-3xl px-4 pb-6 sm:px-6">
          <div ref={above} className={find.isOpen ? "pt-16" : "pt-4"}>
            {view.more ? <Older view={view} onRead={() => void store.loadMore()} /> : before}
          </div>
          <div ref={list}>
            <Virtualizer ref={rows} as={ListedDiv} scrollRef={box} shift={prepended} bufferSize={opened ? BUFFER : 0} startMargin={margin} keepMounted={kept}>
              {messages.map((m, i) => {
                const turn = turnAt(messages, i);
                return (
                  <div key={`${m.role}-${m.id}`} className="pb-5" data-role={m.role} data-message={m.id}>
                    {m.role === "user" ? (
                      <UserMessage
                        message={m}
                        turn={turn}
                        versions={turn ? stable(versionsOf(view.branches, turn)) : none}
                        withdrawn={withdrawn.has(turn)}
                        editing={i === edited}
                        model={i === edited ? modelOf(messages.filter((x) => turnOf(x) === turn)) : undefined}
                        locked={busy}
                        onOpen={setEditing}
                        onEdit={edit}
                        onShow={asks ? undefined : show}
                        onRead={onRead}
                      />
                    ) : (
                      <AssistantMessage message={m} asked={askedBefore(messages, i)} agent={agents.find((a) => a.name === newcomers[i])} writing={writing && i === end} last={i === end && !readOnly} acts={i === end && edited < 0} retry={i === end && !readOnly && !busy && (view.problem === null || view.problem.inAnswer === true)} alert={i === end && view.problem?.inAnswer === true} locked={busy} onCite={onCite} onRead={onRead} onRegenerate={regenerate} />
                    )}
                  </div>
                );
              })}
            </Virtualizer>
            {children}
          </div>
        </div>
      </div>
      {reader.away && (
        <IconButton
          icon={ArrowDown}
          label={words.thread.toEnd}
          className="absolute! bottom-3 left-1/2 -translate-x-1/2 rounded-full! border border-line bg-surface! shadow-float"
          onClick={reader.toEnd}
        />
      )}
    </div>
  );
}

/** Says that older messages exist, or failed to load. */
function Older({ view, onRead }: { view: View; onRead: () => void }) {
  if (!view.moreProblem) return <p className="py-2 text-center text-sm text-muted">{view.loadingMore ? words.thread.readingOlder : words.thread.olderAbove}</p>;
  return (
    <div role="alert" className="flex flex-wrap items-center justify-center gap-3 py-2 text-sm text-muted">
      <p>{words.thread.olderFailed(view.moreProblem)}</p>
      <Button onClick={onRead}>{words.common.tryAgain}</Button>
    </div>
  );
}

const none: string[] = [];

/** Returns one shared list for messages without other versions, so that memo skips their render. */
const stable = (versions: string[]): string[] => (versions.length < 2 ? none : versions);
