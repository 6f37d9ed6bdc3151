import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode, type SyntheticEvent } from "react";
import { Virtualizer } from "virtua";
import type { Citation, DocRef } from "../api/types";
import type { Outgoing } from "../composer/types";
import { backToMessage } from "../composer/focus";
import { Button, IconButton } from "../ui/Button";
import { AssistantMessage } from "./AssistantMessage";
import { pendingQuestion, takenBack, turnAt, turnOf } from "./parts";
import type { ThreadStore, View } from "./store";
import { versionsOf } from "./tree";
import type { Message } from "./types";
import { UserMessage } from "./UserMessage";

interface Props {
  store: ThreadStore;
  view: View;
  messages: Message[];
  busy: boolean;
  writing: boolean;
  onCite: (c: Citation) => void;
  onRead: (doc: DocRef) => void;
  /** What stands below the last message. */
  children: ReactNode;
}

/** Something of the conversation, and where on the page it stands. */
interface Place {
  find: () => Element | null | undefined;
  top: number;
}

const NEAR = 80;
const EARLY = 600;
const BUFFER = 3000; // px that are drawn above and below what is seen: for screen readers, and for finding in the page

/** The messages. Only those in view are in the page; it stays at the end unless the reader has gone up. */
export function Messages({ store, view, messages: all, busy, writing, onCite, onRead, children }: Props) {
  // A message that was taken back says so itself: nothing came of it.
  const messages = useMemo(() => all.filter((m) => !takenBack(m)), [all]);
  const back = useMemo(() => new Set(all.filter(takenBack).map(turnOf)), [all]);

  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const above = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const lastTop = useRef(0);
  const [away, setAway] = useState(false);

  const toEnd = useCallback(() => {
    const el = box.current;
    if (!el) return;
    el.scrollTop = el.scrollHeight;
    lastTop.current = el.scrollTop;
  }, []);

  // A version that was picked stays where its picker was pressed, until the reader moves.
  const [picked, setPicked] = useState("");
  const held = useRef<Place | null>(null);
  const picker = useCallback((turn: string) => box.current?.querySelector<HTMLElement>(`[data-versions="${turn}"]`), []);
  const letGo = () => {
    held.current = null;
  };

  // What is read: what was pressed last while it is in view, else what stands first.
  const width = useRef(0);
  const pressed = useRef<Element | null>(null);
  const reading = useRef<Place | null>(null);
  const note = useCallback(() => {
    const el = box.current;
    if (!el || held.current || el.clientWidth !== width.current) return; // in a new width it stands elsewhere already
    const room = el.getBoundingClientRect();
    const inView = (at: Element) => {
      const { top, bottom } = at.getBoundingClientRect();
      return bottom > room.top && top < room.bottom;
    };
    const last = pressed.current;
    const at = last?.isConnected && inView(last) ? last : document.elementFromPoint(room.left + room.width / 2, room.top + 8);
    reading.current = at && list.current?.contains(at) ? { find: () => at, top: at.getBoundingClientRect().top } : null;
  }, []);
  const press = (e: SyntheticEvent) => {
    letGo();
    pressed.current = list.current?.contains(e.target as Node) ? (e.target as Element) : null;
    note();
  };

  const settle = useCallback(() => {
    const el = box.current;
    if (!el) return;
    // Lines break anew in another width, above what is read, too: it stays where it was, until the reader moves.
    if (width.current !== el.clientWidth && !stuck.current) held.current ??= reading.current;
    width.current = el.clientWidth;
    const place = held.current?.find();
    if (place?.isConnected) el.scrollTop += place.getBoundingClientRect().top - held.current!.top;
    else if (stuck.current) toEnd();
    note();
  }, [toEnd, note]);

  // Messages that grow at the end are followed, and so is the end when there is
  // less room for them; what is said below them is not. What a person has just
  // sent is shown, with the place of what will be said.
  useEffect(() => {
    const watch = new ResizeObserver(settle);
    for (const el of [box.current, list.current]) if (el) watch.observe(el);
    return () => watch.disconnect();
  }, [settle]);
  const newest = messages.findLast((m) => m.role === "user");
  const sent = newest?.metadata?.server_id === undefined ? newest?.id : undefined;
  useLayoutEffect(() => {
    if (!sent) return;
    stuck.current = true;
    held.current = null;
    setAway(false);
    toEnd();
  }, [sent, toEnd]);

  useLayoutEffect(() => {
    if (busy) settle();
  }, [busy, settle]);

  const onScroll = () => {
    const el = box.current;
    if (!el) return;
    const left = el.scrollHeight - el.scrollTop - el.clientHeight;
    if (left < NEAR) stuck.current = true;
    else if (el.scrollTop < lastTop.current - 1) stuck.current = false;
    lastTop.current = el.scrollTop;
    note();
    setAway(left > 2 * el.clientHeight || (!stuck.current && left > NEAR));
    if (el.scrollTop < EARLY && view.more && !view.moreProblem) void store.loadMore();
  };

  // Older messages push down what is read, unless the list is told that they came before.
  const first = messages[0]?.id;
  const [seen, setSeen] = useState({ first, count: messages.length });
  const prepended = seen.first !== first && messages.length > seen.count && messages[messages.length - seen.count]?.id === seen.first;
  useEffect(() => setSeen({ first, count: messages.length }), [first, messages.length]);

  // The list counts from where it begins.
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => setMargin(above.current?.offsetHeight ?? 0), [view.more, view.moreProblem]);

  const [editing, setEditing] = useState<string | null>(null);
  const edit = useCallback(
    (turn: string, out: Outgoing) => {
      void store.edit(turn, out);
      backToMessage();
    },
    [store],
  );
  const show = useCallback(
    async (turn: string) => {
      const button = versionsOf(store.snapshot().branches, turn).map(picker).find(Boolean);
      if (!button) return;
      const place = (held.current = { find: () => picker(turn), top: button.getBoundingClientRect().top });
      stuck.current = false;
      setPicked(turn);
      // What had the focus is drawn anew: who uses the keyboard goes on at the version shown.
      const look = () => {
        if (held.current !== place) return;
        const now = picker(turn);
        if (!now?.checkVisibility({ visibilityProperty: true })) return void requestAnimationFrame(look);
        settle();
        const at = document.activeElement;
        if (at === document.body || at?.matches(":disabled")) now.querySelector<HTMLElement>("button:not(:disabled)")?.focus({ preventScroll: true });
      };
      look();
      await store.show(turn);
      const here = () => userAt(store.chat.messages, turn) >= 0;
      while (held.current === place && !here() && store.snapshot().more && !store.snapshot().moreProblem) {
        await store.loadMore();
        await new Promise(requestAnimationFrame);
      }
      if (held.current === place && !here()) held.current = null; // it could not be read
    },
    [store, picker, settle],
  );
  const regenerate = useCallback(
    (turn: string) => {
      void store.regenerate(turn);
      backToMessage();
    },
    [store],
  );
  const asks = !busy && pendingQuestion(messages) !== null;
  const end = messages.length - 1;
  const edited = messages.findIndex((m) => m.id === editing);
  const gone = editing !== null && edited < 0;
  useEffect(() => {
    if (gone) setEditing(null);
  }, [gone]);
  const kept = [edited, userAt(messages, picked)].filter((i) => i >= 0);

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        onScroll={onScroll}
        onWheel={letGo}
        onTouchMove={letGo}
        onPointerDown={press}
        onKeyDown={press}
        tabIndex={0}
        role="region"
        aria-label="Conversation"
        className="conversation h-full overflow-y-auto -outline-offset-2"
      >
        <div className="mx-auto w-full max-w-3xl px-4 pb-6 sm:px-6">
          <div ref={above} className="pt-4">
            {view.more && <Older view={view} onRead={() => void store.loadMore()} />}
          </div>
          <div ref={list}>
            <Virtualizer scrollRef={box} shift={prepended} bufferSize={BUFFER} startMargin={margin} keepMounted={kept}>
              {messages.map((m, i) => {
                const turn = turnAt(messages, i);
                return (
                  <div key={`${m.role}-${m.id}`} className="pb-5" data-role={m.role}>
                    {m.role === "user" ? (
                      <UserMessage
                        message={m}
                        turn={turn}
                        versions={turn ? stable(versionsOf(view.branches, turn)) : none}
                        takenBack={back.has(turn)}
                        editing={i === edited}
                        locked={busy}
                        onOpen={setEditing}
                        onEdit={edit}
                        onShow={asks ? undefined : show}
                        onRead={onRead}
                      />
                    ) : (
                      <AssistantMessage message={m} writing={writing && i === end} last={i === end} locked={busy} onCite={onCite} onRegenerate={regenerate} />
                    )}
                  </div>
                );
              })}
            </Virtualizer>
          </div>
          {children}
        </div>
      </div>
      {away && (
        <IconButton
          icon={ArrowDown}
          label="Go to the end"
          className="absolute! bottom-3 left-1/2 -translate-x-1/2 rounded-full! border border-line bg-surface! shadow-float"
          onClick={() => {
            stuck.current = true;
            held.current = null;
            toEnd();
          }}
        />
      )}
    </div>
  );
}

/** That the conversation goes back further than what is here. */
function Older({ view, onRead }: { view: View; onRead: () => void }) {
  if (!view.moreProblem) return <p className="py-2 text-center text-sm text-muted">{view.loadingMore ? "Reading older messages..." : "Older messages above"}</p>;
  return (
    <div role="alert" className="flex flex-wrap items-center justify-center gap-3 py-2 text-sm text-muted">
      <p>Older messages could not be read. {view.moreProblem}</p>
      <Button onClick={onRead}>Try again</Button>
    </div>
  );
}

/** Where a person's message of a turn stands; -1: nowhere. */
const userAt = (messages: readonly Message[], turn: string): number => messages.findIndex((m, i) => m.role === "user" && turnAt(messages, i) === turn);

const none: string[] = [];

/** One list for all messages that have no other version, so that none is drawn anew for nothing. */
const stable = (versions: string[]): string[] => (versions.length < 2 ? none : versions);
