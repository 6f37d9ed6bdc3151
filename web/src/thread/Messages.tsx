import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { Virtualizer } from "virtua";
import type { Citation } from "../api/types";
import { IconButton } from "../ui/Button";
import { AssistantMessage } from "./AssistantMessage";
import { turnAt } from "./parts";
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
  /** What stands below the last message. */
  children: ReactNode;
}

const NEAR = 80;
const EARLY = 600;
const BUFFER = 3000; // px that are drawn above and below what is seen: for screen readers, and for finding in the page

/** The messages. Only those in view are in the page; it stays at the end unless the reader has gone up. */
export function Messages({ store, view, messages, busy, writing, onCite, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const lastTop = useRef(0);
  const [away, setAway] = useState(false);

  const toEnd = useCallback(() => {
    const el = box.current;
    if (!el) return;
    el.scrollTop = el.scrollHeight;
    lastTop.current = el.scrollTop;
  }, []);

  // What grows at the end is followed; what a person has just sent is shown.
  useEffect(() => {
    const el = inner.current;
    if (!el) return;
    const watch = new ResizeObserver(() => stuck.current && toEnd());
    watch.observe(el);
    return () => watch.disconnect();
  }, [toEnd]);
  const sent = messages.findLast((m) => m.role === "user")?.id;
  useLayoutEffect(() => {
    stuck.current = true;
    setAway(false);
    toEnd();
  }, [sent, toEnd]);

  const onScroll = () => {
    const el = box.current;
    if (!el) return;
    const left = el.scrollHeight - el.scrollTop - el.clientHeight;
    if (left < NEAR) stuck.current = true;
    else if (el.scrollTop < lastTop.current - 1) stuck.current = false;
    lastTop.current = el.scrollTop;
    setAway(left > 2 * el.clientHeight || (!stuck.current && left > NEAR));
    if (el.scrollTop < EARLY && view.more) void store.loadMore();
  };

  // Older messages push down what is read, unless the list is told that they came before.
  const first = messages[0]?.id;
  const [seen, setSeen] = useState({ first, count: messages.length });
  const prepended = seen.first !== first && messages.length > seen.count && messages[messages.length - seen.count]?.id === seen.first;
  useEffect(() => setSeen({ first, count: messages.length }), [first, messages.length]);

  const edit = useCallback((turn: string, text: string) => void store.edit(turn, text), [store]);
  const show = useCallback((turn: string) => void store.show(turn), [store]);
  const regenerate = useCallback((turn: string) => void store.regenerate(turn), [store]);
  const end = messages.length - 1;

  return (
    <div className="relative min-h-0 flex-1">
      <div ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label="Conversation" className="conversation h-full overflow-y-auto outline-none">
        <div ref={inner} className="mx-auto w-full max-w-3xl px-4 pt-4 pb-6 sm:px-6">
          {view.more && <p className="py-2 text-center text-sm text-muted">{view.loadingMore ? "Reading older messages..." : "Older messages above"}</p>}
          <Virtualizer scrollRef={box} shift={prepended} bufferSize={BUFFER}>
            {messages.map((m, i) => {
              const turn = turnAt(messages, i);
              return (
                <div key={`${m.role}-${m.id}`} className="pb-5" data-role={m.role}>
                  {m.role === "user" ? (
                    <UserMessage message={m} turn={turn} versions={turn ? stable(versionsOf(view.branches, turn)) : none} locked={busy} onEdit={edit} onShow={show} />
                  ) : (
                    <AssistantMessage message={m} writing={writing && i === end} last={i === end} locked={busy} onCite={onCite} onRegenerate={regenerate} />
                  )}
                </div>
              );
            })}
          </Virtualizer>
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
            toEnd();
          }}
        />
      )}
    </div>
  );
}

const none: string[] = [];
const kept = new Map<string, string[]>();

/** The same list for the same versions, so that a message is not drawn anew for nothing. */
function stable(versions: string[]): string[] {
  if (versions.length < 2) return none;
  const key = versions.join();
  const known = kept.get(key);
  if (known) return known;
  kept.set(key, versions);
  return versions;
}
