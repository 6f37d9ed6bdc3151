import { useEffect, useLayoutEffect, useRef, type ReactNode } from "react";
import type { Citation } from "../api/types";
import type { Thread } from "../state/thread";
import { Markdown } from "./Markdown";
import { MessageView } from "./MessageView";
import { PalReasoning } from "./PalReasoning";

const NEAR = 120;

/** The messages and the answer being written; stays at the end unless the reader has scrolled up. */
export function ThreadView({ thread, welcome, onCite }: { thread: Thread; welcome: ReactNode; onCite: (c: Citation) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const stick = useRef(true);
  const { messages, live } = thread;
  // The open question stands above the composer; once answered it stays in the conversation.
  const question = thread.interrupt;
  const asked = question && messages.findLast((m) => m.role === "system" && (m.id === question.interrupt_id || m.content === question.message))?.id;

  useEffect(() => {
    stick.current = true;
  }, [thread.id, live?.clientTurnId]);

  useLayoutEffect(() => {
    const el = box.current;
    if (el && stick.current) el.scrollTop = el.scrollHeight;
  });

  const onScroll = () => {
    const el = box.current;
    if (el) stick.current = el.scrollHeight - el.scrollTop - el.clientHeight < NEAR;
  };

  const empty = thread.load === "ready" && messages.length === 0 && !live;
  return (
    <div ref={box} onScroll={onScroll} className="min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
      <div className="mx-auto flex min-h-full w-full max-w-3xl flex-col px-4 pt-4 pb-6 sm:px-6">
        {thread.load === "missing" && (
          <p className="my-auto text-center text-muted">This conversation does not exist. It may have been deleted.</p>
        )}
        {thread.load === "loading" && <p className="my-auto text-center text-muted">Opening the conversation...</p>}
        {empty && welcome}
        {!empty && thread.load === "ready" && (
          <div role="log" aria-label="Conversation" aria-live="polite" aria-busy={live !== null && !thread.interrupt} className="space-y-6">
            {messages.filter((m) => m.id !== asked).map((m) => (
              <MessageView key={`${m.role}-${m.id}`} message={m} onCite={onCite} />
            ))}
            {live && live.text !== "" && (
              <article aria-label="Palaver is writing" data-live>
                <Markdown text={live.text} onCite={onCite} />
              </article>
            )}
          </div>
        )}
        {thread.load === "ready" && !empty && (
          <div className="mt-4">
            <PalReasoning live={live} waiting={thread.interrupt !== null} />
          </div>
        )}
      </div>
    </div>
  );
}
