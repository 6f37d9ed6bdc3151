import { useChat } from "@ai-sdk/react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type RefObject } from "react";
import type { Citation, DocRef } from "../api/types";
import { Composer } from "../composer/Composer";
import { backToMessage } from "../composer/focus";
import type { ComposerHandle, Outgoing } from "../composer/types";
import { Imports, useImports } from "../imports/imports";
import { findLinks } from "../imports/links";
import { Boundary } from "../shell/Boundary";
import { Aside, useAside } from "../ui/Aside";
import { Button } from "../ui/Button";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { Announcer } from "./Announcer";
import type { Draft } from "./approval";
import { Messages } from "./Messages";
import { PalAssist } from "./PalAssist";
import { PalReasoning } from "./PalReasoning";
import { docsOf, importLink, pendingQuestion, textOf, toolOf } from "./parts";
import { ProblemBar } from "./ProblemBar";
import { prepareProse } from "./Prose";
import { ThreadStore, type Callbacks } from "./store";
import "./thread.css";
import { Opened } from "./ToolCard";
import type { Message, Question, ResumeValue } from "./types";
import { Waiting } from "./Waiting";

const PassagePanel = lazy(() => import("./PassagePanel"));
const Reader = lazy(() => import("../documents/Reader"));

interface Props extends Omit<Callbacks, "onReturned"> {
  threadId: string;
  /** The message that was to begin the conversation is given up. */
  onUnsaid?: (out: Outgoing) => void;
  /** The message that begins the conversation. Sent again after a reload it joins its turn. */
  first?: Outgoing;
}

/** One conversation: its messages, what its turn is doing or asks, and the composer. */
export function Thread(props: Props) {
  return <Conversation key={props.threadId} {...props} />;
}

/** Often enough to be smooth, and seldom enough for a long answer. */
const THROTTLE_MS = 50;

function Conversation({ threadId, first, onActivity, onFirstAccepted, onUnsaid }: Props) {
  const composer = useRef<ComposerHandle>(null);
  const callbacks = useRef<Callbacks>({});
  callbacks.current = {
    onActivity,
    onFirstAccepted,
    onReturned: (out, unknown) => (unknown ? onUnsaid?.(out) : composer.current?.takeBack(out)),
  };
  const [store] = useState(
    () =>
      new ThreadStore(threadId, {
        onActivity: () => callbacks.current.onActivity?.(),
        onFirstAccepted: () => callbacks.current.onFirstAccepted?.(),
        onReturned: (out, unknown) => callbacks.current.onReturned?.(out, unknown),
      }),
  );
  const begin = useRef(first);
  useEffect(() => {
    store.start(begin.current);
    prepareProse();
    return () => store.stopAll();
  }, [store]);

  const view = useSyncExternalStore(store.subscribe, store.snapshot);
  const { messages, status } = useChat<Message>({ chat: store.chat, throttle: THROTTLE_MS });
  const streaming = status === "submitted" || status === "streaming";
  const busy = streaming || view.away;
  const last = messages.at(-1);
  const question = busy ? null : pendingQuestion(messages);
  const writing = busy && last?.role === "assistant";

  const linked = useMemo(() => messages.some((m) => (m.role === "user" ? findLinks(textOf(m)).length > 0 : m.parts.some((p) => importLink(toolOf(p))))), [messages]);
  const items = useImports(threadId, busy, linked);
  const imports = useMemo(() => ({ threadId, items }), [threadId, items]);

  const [opened] = useState(() => new Set<string>());
  const aside = useAside();
  const [cited, setCited] = useState<Citation | null>(null);
  const [read, setRead] = useState<DocRef | null>(null);
  const { show } = aside;
  const onCite = useCallback(
    (c: Citation) => {
      setCited(c);
      show("passage");
    },
    [show],
  );
  const onRead = useCallback(
    (doc: DocRef) => {
      setRead(doc);
      show("document");
    },
    [show],
  );

  if (view.load === "missing") {
    return (
      <Notice>
        <p>{words.thread.missing}</p>
        <a href="/" className="mt-4 inline-block font-medium text-accent underline">
          {words.thread.startNew}
        </a>
      </Notice>
    );
  }
  if (view.load === "failed") {
    return (
      <Notice>
        <p role="alert">{words.thread.openFailed(view.loadProblem)}</p>
        <Button className="mt-4" onClick={() => void store.load()}>
          {words.common.tryAgain}
        </Button>
      </Notice>
    );
  }

  return (
    <>
      {view.load === "loading" ? (
        <Skeleton />
      ) : (
        <Imports value={imports}>
          <Opened value={opened}>
            <Messages store={store} view={view} messages={messages} busy={busy} writing={writing} onCite={onCite} onRead={onRead}>
              <PalReasoning running={busy} begun={writing && hasText(last)} writing={writing && growing(last)} stopping={view.stopping} problem={view.connectionProblem} statuses={view.statuses} docs={writing ? docsOf(last) : []} />
            </Messages>
          </Opened>
        </Imports>
      )}
      <div className="mx-auto w-full max-w-3xl px-4 pb-4 sm:px-6">
        {view.problem && <ProblemBar problem={view.problem} onRetry={() => (store.retry(), backToMessage())} onDismiss={() => (store.dismiss(), backToMessage())} />}
        <Waiting queued={view.queued} onRemove={(id) => (void store.unqueue(id), backToMessage())} onRetry={(id) => store.requeue(id)} />
        <Dock store={store} composer={composer} threadId={threadId} question={question} busy={busy} stopping={view.stopping} />
      </div>
      <Announcer message={question ? undefined : last} busy={busy} />
      {cited && (
        <Aside name="passage" title={cited.title}>
          <Boundary>
            <Suspense fallback={<Opening />}>
              <PassagePanel citation={cited} />
            </Suspense>
          </Boundary>
        </Aside>
      )}
      {read && (
        <Aside name="document" title={read.title}>
          <Boundary key={read.id}>
            <Suspense fallback={<Opening />}>
              <Reader doc={read} />
            </Suspense>
          </Boundary>
        </Aside>
      )}
    </>
  );
}

const Opening = () => <p className="px-5 py-3 text-sm text-muted">{words.library.opening}</p>;

const growing = (m: Message | undefined): boolean => {
  const part = m?.parts.at(-1);
  return part?.type === "text" && part.state === "streaming";
};
const hasText = (m: Message | undefined): boolean => m?.parts.some((p) => p.type === "text" && p.text !== "") ?? false;

interface DockProps {
  store: ThreadStore;
  composer: RefObject<ComposerHandle | null>;
  threadId: string;
  question: Question | null;
  busy: boolean;
  stopping: boolean;
}

/** Where a person writes, or answers. */
function Dock({ store, composer, threadId, question, busy, stopping }: DockProps) {
  const [decisions] = useState(() => new Map<string, Draft[]>());
  const [taggingFor, setTaggingFor] = useState("");
  const tagging = question !== null && question.interrupt_id === taggingFor;
  const typed = question?.interrupt_type === "text_input" || tagging;

  const pointer = useMedia("(pointer: fine)"); // on a phone the keyboard would cover the page
  useEffect(() => {
    const typing = document.activeElement instanceof HTMLInputElement; // in a search, by the time the conversation was there
    if (pointer && !typing) composer.current?.focus();
  }, [pointer]);

  // The caret goes to where the answer is typed, and back when a question has been answered.
  const asked = question?.interrupt_id;
  const had = useRef(asked);
  useEffect(() => {
    const moved = (typed && !tagging) || (!asked && had.current !== undefined);
    if (moved && pointer) composer.current?.focus();
    had.current = asked;
  }, [asked, typed, tagging, pointer]);

  const answer = (value: ResumeValue, out?: Outgoing) => question && void store.answer(question, value, out);
  const onSend = (out: Outgoing) => {
    if (!question) return void store.send(out);
    const value: ResumeValue = {
      type: question.interrupt_type,
      value: tagging ? "tag_docs" : out.text.trim() || null,
      ...(Object.keys(out.tiptap).length > 0 && { tiptap_json: out.tiptap }),
      ...(out.taggedDocIds.length > 0 && { tagged_doc_ids: out.taggedDocIds }),
      ...(out.taggedSetIds.length > 0 && { tagged_set_ids: out.taggedSetIds }),
    };
    answer(value, out);
  };
  return (
    <>
      {question && (
        <PalAssist
          key={question.interrupt_id}
          question={question}
          tagging={tagging}
          decisions={decisions}
          onAnswer={answer}
          onTag={() => {
            setTaggingFor(question.interrupt_id);
            setTimeout(() => composer.current?.mention()); // once it is enabled
          }}
        />
      )}
      <Composer
        ref={composer}
        threadId={threadId}
        busy={busy}
        stopping={stopping}
        disabled={question !== null && !typed && words.composer.pickOption}
        answering={typed}
        {...(typed && { placeholder: tagging ? words.composer.placeholderChoose : words.composer.placeholderAnswer })}
        onSend={onSend}
        onStop={() => void store.stop()}
        onCancel={tagging ? () => setTaggingFor("") : typed ? () => answer({ type: "cancel", value: null }) : undefined}
      />
    </>
  );
}

const Notice = ({ children }: { children: React.ReactNode }) => <div className="m-auto max-w-md px-6 text-center text-muted">{children}</div>;

function Skeleton() {
  return (
    <div role="status" className="mx-auto w-full max-w-3xl flex-1 space-y-6 px-4 pt-6 sm:px-6">
      <span className="sr-only">{words.thread.opening}</span>
      {["ml-auto h-11 w-1/2", "h-4 w-11/12", "h-4 w-4/5", "h-4 w-2/3", "ml-auto h-11 w-2/5", "h-4 w-5/6", "h-4 w-3/4"].map((shape, i) => (
        <div key={i} aria-hidden className={`animate-pulse rounded-xl bg-sunken motion-reduce:animate-none ${shape}`} />
      ))}
    </div>
  );
}
