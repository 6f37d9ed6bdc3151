import { useChat } from "@ai-sdk/react";
import { memo, Suspense, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode, type RefObject } from "react";
import { currentSpace, setBeside } from "../api/space";
import type { Citation, Doc, DocRef } from "../api/types";
import { useConfig } from "../api/useConfig";
import { Composer } from "../composer/Composer";
import { backToMessage } from "../composer/focus";
import { readDoc } from "../composer/incoming";
import { messageContent, type Node } from "../composer/outgoing";
import { scopeOf, setScope } from "../composer/scope";
import type { ComposerHandle, ComposerProps, Outgoing } from "../composer/types";
import { LIBRARY, useLibrary } from "../documents/library";
import { Imports, useImports } from "../imports/imports";
import { findLinks } from "../imports/links";
import { Boundary } from "../shell/Boundary";
import { useConversation } from "../shell/conversations";
import { keepTemporary, useTemporary } from "../shell/temporary";
import { Aside, useAside } from "../ui/Aside";
import { Button } from "../ui/Button";
import { composing } from "../ui/composing";
import { layerIsOpen } from "../ui/layer";
import { lazy } from "../ui/lazy";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { Announcer } from "./Announcer";
import type { Draft } from "./approval";
import { ActiveCitation, sameCitation } from "./heading";
import { noteAsked } from "./left";
import { CopyBar } from "./CopyBar";
import { Messages } from "./Messages";
import { PalAssist } from "./PalAssist";
import { PalReasoning } from "./PalReasoning";
import { agentOf, citationsOf, docsOf, importLink, modelOf, pendingQuestion, saysEnding, textOf, toolOf } from "./parts";
import { ProblemBar } from "./ProblemBar";
import { prepareProse } from "./Prose";
import { quoteLines } from "./quoting";
import { decideAll, decisionNamed, onlyDocuments, optionNamed, optionsOf, TAG, written, type Option } from "./replies";
import { ThreadStore, type Callbacks } from "./store";
import { Shared, type Sharing } from "./sharing";
import { nextThrottle } from "./throttle";
import "./thread.css";
import { Opened } from "./ToolCard";
import { byName, Titled } from "./titled";
import type { Message, Question, ResumeValue } from "./types";
import { Waiting } from "./Waiting";

const FollowUps = lazy(() => import("./FollowUps"));
const Reader = lazy(() => import("../documents/Reader"));

interface Props extends Omit<Callbacks, "onReturned"> {
  threadId: string;
  /** Called when the user abandons the first message. */
  onUnsent?: (out: Outgoing) => void;
  /** The first message. If it is sent again after a reload, it joins its turn. */
  first?: Outgoing;
  /** With whom it is shared; absent: with nobody. */
  sharing?: Sharing;
  /** When somebody else shares it: called with the id of a copy. */
  onCopied?: (id: string) => void;
}

/** One thread: its messages, its running turn or open question, and the composer. */
export function Thread(props: Props) {
  return <Conversation key={props.threadId} {...props} />;
}

/** Milliseconds between the renders of a streaming answer. A busy browser renders less often, so that it can react to the person. */
function useThrottle(streaming: boolean): number {
  const [ms, setMs] = useState(nextThrottle(0, 0));
  const began = performance.now();
  useEffect(() => {
    if (streaming) setMs((now) => nextThrottle(now, performance.now() - began));
  });
  return ms;
}

function Conversation({ threadId, first, sharing, onActivity, onFirstAccepted, onUnsent, onCopied = () => {} }: Props) {
  const composer = useRef<ComposerHandle>(null);
  const thread = useThread(threadId, {
    onActivity,
    onFirstAccepted,
    onReturned: (out, unknown) => (unknown ? onUnsent?.(out) : composer.current?.takeBack(out)),
  }, first, { readOnly: sharing?.author !== undefined });
  const temporary = useTemporary(threadId);
  const marked = thread.messages.some((m) => m.metadata?.temporary);
  useEffect(() => {
    if (marked) keepTemporary(threadId);
  }, [marked, threadId]);
  const { store } = thread;
  const spaces = useConversation(threadId)?.space_ids;
  useEffect(() => {
    setBeside(spaces ?? []);
    return () => setBeside([]);
  }, [spaces]);
  const { author, changed } = sharing ?? {};
  const known = useRef(changed);
  useEffect(() => {
    if (author !== undefined && changed !== known.current) void store.load(); // its author has gone on
    known.current = changed;
  }, [store, author, changed]);
  return (
    <Shared value={sharing ?? PRIVATE}>
      <ThreadView thread={thread} composer={composer} instead={author !== undefined && <CopyBar threadId={threadId} author={author} onCopied={onCopied} />} before={temporary && <p className="mb-4 rounded-xl border border-dashed border-line px-4 py-2.5 text-sm text-muted">{words.thread.temporaryHelp}</p>} />
    </Shared>
  );
}

const PRIVATE: Sharing = { shared: false };

export type ThreadState = ReturnType<typeof useThread>;

/** Creates the store of a thread, which lives as long as the component. */
export function useThread(threadId: string, now: Callbacks, first?: Outgoing, options: { mayBeNew?: boolean; readOnly?: boolean } = {}) {
  const callbacks = useRef(now);
  callbacks.current = now;
  const [store] = useState(
    () =>
      new ThreadStore(
        threadId,
        {
          onActivity: () => callbacks.current.onActivity?.(),
          onFirstAccepted: () => callbacks.current.onFirstAccepted?.(),
          onReturned: (out, unknown) => callbacks.current.onReturned?.(out, unknown),
        },
        options,
      ),
  );
  const begin = useRef(first);
  useEffect(() => {
    store.start(begin.current);
    prepareProse();
    return () => store.stopAll();
  }, [store]);

  const view = useSyncExternalStore(store.subscribe, store.snapshot);
  const throttle = useThrottle(store.chat.status === "streaming");
  const { messages, status } = useChat<Message>({ chat: store.chat, throttle });
  const streaming = status === "submitted" || status === "streaming";
  return { store, view, messages, busy: streaming || view.away };
}

interface ViewProps {
  thread: ThreadState;
  composer: RefObject<ComposerHandle | null>;
  /** Content above the first message. */
  before?: ReactNode;
  /** Content while there are no messages. */
  empty?: ReactNode;
  /** Stands where the composer would be, in a thread that can only be read. */
  instead?: ReactNode;
  /** Composer options for a thread that is shown beside something else. */
  dock?: DockLook;
}

interface DockLook extends Pick<ComposerProps, "placeholder" | "items" | "mentionLabel"> {
  /** Says why the composer is disabled while a turn runs. */
  locked: string;
  /** Esc while no turn runs and no question is open. */
  onLeave: () => void;
}

/** Renders a thread: its messages, its running turn or open question, and the composer. */
export function ThreadView({ thread: { store, view, messages, busy }, composer, before, empty, instead, dock }: ViewProps) {
  const threadId = store.id;
  const last = messages.at(-1);
  const question = busy || instead ? null : pendingQuestion(messages);
  const writing = busy && last?.role === "assistant";
  const { webSearch, followUps } = useConfig();
  const goesOn = followUps && !dock && !instead && !busy && !question && last?.role === "assistant" && last.metadata?.finished_reason === "stop" ? last : null;
  const options = useMemo(() => (question ? optionsOf(question, webSearch) : []), [question, webSearch]);
  const reply = useReply(store, composer, question, options);
  useEffect(() => {
    if (view.load === "ready") noteAsked(threadId, question);
  }, [threadId, view.load, question]);

  const cites = useMemo(() => (goesOn ? citationsOf(goesOn) : []), [goesOn]);

  const asked = messages.findLast((m) => m.role === "user");
  const { docs } = useLibrary();
  const alone = useMemo(() => (question ? loneDocument(asked, docs) : undefined), [question, asked, docs]);
  const onAsk = (doc: Node) => {
    void store.send({ ...messageContent(doc), attachments: [], onBusy: "enqueue" });
    backToMessage();
  };
  const processing = useMemo(() => (busy && asked ? docs.filter((d) => d.status === "processing" && names(asked, d)) : []), [busy, asked, docs]);

  const linked = useMemo(() => messages.some((m) => (m.role === "user" ? findLinks(textOf(m)).length > 0 : m.parts.some((p) => importLink(toolOf(p))))), [messages]);
  const items = useImports(threadId, busy, linked && currentSpace() === ""); // a space takes no imports
  const imports = useMemo(() => ({ threadId, items }), [threadId, items]);

  const [opened] = useState(() => new Set<string>());
  const aside = useAside();
  const [read, setRead] = useState<{ doc: DocRef; citation?: Citation } | null>(null);
  const { show } = aside;
  const onCite = useCallback(
    (c: Citation) => {
      setRead({ doc: { id: c.doc_id ?? "", title: c.title }, citation: c });
      show(READER);
    },
    [show],
  );
  useLinkedCitation(messages, onCite);
  const onQuote = useCallback(
    (text: string) => {
      document.getSelection()?.removeAllRanges();
      composer.current?.begin(quoteLines(text));
    },
    [composer],
  );
  const onRead = useCallback(
    (doc: DocRef) => {
      setRead({ doc });
      show(READER);
    },
    [show],
  );
  const titled = useMemo(() => ({ find: byName(docs), onRead, onLibrary: () => show(LIBRARY) }), [docs, onRead, show]);
  const cited = read?.citation;
  const beside = useMemo(() => (cited ? citedWith(messages, cited) : []), [messages, cited]);

  if (view.load === "missing") {
    return (
      <Notice>
        <h1>{words.thread.missing}</h1>
        <a href="/" className="mt-4 inline-block font-medium text-accent underline">
          {words.thread.startNew}
        </a>
      </Notice>
    );
  }
  if (view.load === "failed") {
    return (
      <Notice>
        <h1 role="alert">{words.thread.openFailed(view.loadProblem)}</h1>
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
            <ActiveCitation value={(aside.open === READER && cited) || null}>
            <Titled value={titled}>
            <Messages store={store} view={view} messages={messages} busy={busy} writing={writing} onCite={onCite} onRead={onRead} onQuote={onQuote} finds={!dock} before={before}>
              <PalReasoning running={busy} begun={writing && hasText(last)} writing={writing && growing(last)} stopping={view.stopping} problem={view.connectionProblem} statuses={view.statuses} docs={writing ? docsOf(last) : []} processing={processing} />
              {messages.length === 0 && empty}
              {question && (
                <PalAssist
                  key={question.interrupt_id}
                  question={question}
                  options={options}
                  asked={textOf(asked)}
                  alone={alone}
                  searched={docsOf(last).map((d) => d.id)}
                  tagging={reply.tagging}
                  decisions={reply.decisions}
                  refused={view.refused}
                  onAnswer={reply.answer}
                  onChoose={reply.choose}
                  onCancel={reply.cancel}
                  onAsk={onAsk}
                  onLimit={(doc) => {
                    reply.cancel();
                    setScope(threadId, { ...scopeOf(threadId), docs: [{ id: doc.id, title: doc.title }], sets: [] });
                    composer.current?.focus();
                  }}
                  onCite={onCite}
                />
              )}
              {goesOn && cites.length > 0 && (
                <Boundary key={goesOn.id}>
                  <Suspense fallback={null}>
                    <FollowUps
                      citations={cites}
                      said={messages.map((m) => (m.role === "user" ? textOf(m) : (m.metadata?.action ?? ""))).join("\n")}
                      onAsk={onAsk}
                    />
                  </Suspense>
                </Boundary>
              )}
            </Messages>
            </Titled>
            </ActiveCitation>
          </Opened>
        </Imports>
      )}
      <div className="mx-auto w-full max-w-3xl px-4 pb-4 sm:px-6">
        {view.problem && !(view.problem.inAnswer && last && saysEnding(last)) && <ProblemBar problem={view.problem} onRetry={() => (store.retry(), backToMessage())} onDismiss={() => (store.dismiss(), backToMessage())} />}
        <Waiting queued={view.queued} onRemove={(id) => (void store.unqueue(id), backToMessage())} onRetry={(id) => (store.requeue(id), backToMessage())} onEdit={(id, out) => void store.editQueued(id, out)} />
        {instead || <Dock store={store} composer={composer} threadId={threadId} agent={agentOf(messages)} model={modelOf(messages)} question={question} tagging={reply.tagging} typed={reply.typed} onSay={reply.dock.say} onCancel={reply.dock.cancel} busy={busy} stopping={view.stopping} look={dock} />}
      </div>
      <Announcer message={question ? undefined : last} busy={busy} />
      {read && (
        <Aside name={READER} title={read.doc.title}>
          <Boundary key={read.doc.id}>
            <Suspense fallback={<Opening />}>
              <Reader doc={read.doc} citation={cited} citations={beside} onCite={onCite} />
            </Suspense>
          </Boundary>
        </Aside>
      )}
    </>
  );
}

const READER = "reader";

/** The citations of documents in the answer that has this one. */
const citedWith = (messages: readonly Message[], cited: Citation): Citation[] =>
  messages.map((m) => (m.role === "assistant" ? citationsOf(m).filter((c) => c.doc_id) : [])).findLast((all) => all.some((c) => sameCitation(c, cited))) ?? [];

/** Opens the passage that the URL names (#cite=turn.number). Other programs link this way. */
function useLinkedCitation(messages: Message[], onCite: (c: Citation) => void): void {
  useEffect(() => {
    const [, turn, n] = /^#cite=([\w-]{1,64})\.(\d{1,4})$/.exec(location.hash) ?? [];
    if (!turn) return;
    const cited = messages.filter((m) => m.role === "assistant" && m.metadata?.turn_id === turn).flatMap(citationsOf).find((c) => c.n === Number(n));
    if (!cited?.doc_id) return; // not loaded yet, or not a document
    history.replaceState(history.state, "", location.pathname + location.search);
    onCite(cited);
  }, [messages, onCite]);
}

/** The document that a message mentions, when it says nothing else. */
function loneDocument(m: Message | undefined, docs: readonly Doc[]): Doc | undefined {
  const doc = m && readDoc(m.metadata?.tiptap_json, textOf(m));
  if (!doc) return undefined;
  const content = messageContent(doc);
  const [id, another] = content.taggedDocIds;
  return another === undefined && onlyDocuments(content) ? docs.find((d) => d.id === id) : undefined;
}

/** Whether a message contains a document's title, e.g. in a mention: the turn waits until the document is processed. */
const names = (m: Message, { title }: DocRef): boolean => textOf(m).toLowerCase().includes(title.toLowerCase());

const Opening = () => <p className="px-5 py-3 text-sm text-muted">{words.library.opening}</p>;

const growing = (m: Message | undefined): boolean => {
  const part = m?.parts.at(-1);
  return part?.type === "text" && part.state === "streaming";
};
const hasText = (m: Message | undefined): boolean => m?.parts.some((p) => p.type === "text" && p.text !== "") ?? false;

/** Whether the focus is in a text field other than the composer, e.g. a search. */
const typingElsewhere = (): boolean => document.activeElement?.matches("input, textarea, [contenteditable=true]:not([data-composer] *)") === true;

/** Answers the open question, from its buttons in the thread or from text in the composer. */
function useReply(store: ThreadStore, composer: RefObject<ComposerHandle | null>, question: Question | null, options: Option[]) {
  const [decisions] = useState(() => new Map<string, Draft[]>());
  const [taggingFor, setTaggingFor] = useState("");
  const tagging = question !== null && question.interrupt_id === taggingFor;
  const typed = question?.interrupt_type === "text_input" || tagging;

  const answer = (value: ResumeValue, out?: Outgoing) => question && void store.answer(question, value, out);
  const choose = (id: string) => {
    if (!question) return;
    if (question.interrupt_type !== "retrieval_low" || id !== TAG) return answer({ type: question.interrupt_type, value: id });
    setTaggingFor(question.interrupt_id);
    setTimeout(() => composer.current?.mention()); // after the composer has rendered as answering
  };
  const cancel = () => (tagging ? setTaggingFor("") : answer({ type: "cancel", value: null }));

  /** Sends text as the answer, or as a new message that replaces the question. */
  const say = (out: Outgoing) => {
    if (!question) return void store.send(out);
    const type = question.interrupt_type;
    if (type === "text_input") return answer(written(type, out.text.trim() || null, out), out);
    if (tagging || (type === "retrieval_low" && out.attachments.length === 0 && onlyDocuments(out))) return answer(written(type, TAG, out), out);
    if (out.attachments.length > 0) return void store.send(out);
    const decision = type === "tool_approval" ? decisionNamed(out.text) : undefined;
    if (decision) {
      const made = decideAll(question, decisions.get(question.interrupt_id) ?? [], decision);
      return made ? answer({ type, value: null, decisions: made }, out) : composer.current?.takeBack(out); // the arguments show the error
    }
    const named = optionNamed(options, out.text);
    if (named) return choose(named.id);
    void store.send(out);
  };

  const newest = useRef({ say, cancel });
  newest.current = { say, cancel };
  const [dock] = useState(() => ({ say: (out: Outgoing) => newest.current.say(out), cancel: () => newest.current.cancel() }));
  const open = question !== null;
  useEffect(() => {
    if (!open) return;
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== "Escape" || e.shiftKey || e.defaultPrevented || composing(e) || layerIsOpen()) return;
      const at = e.target as Element;
      if (at.closest("input, textarea") && !at.closest("[data-question]")) return; // that field handles Esc
      newest.current.cancel();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open]);

  return { tagging, typed, decisions, answer, choose, cancel, dock };
}

interface DockProps {
  store: ThreadStore;
  composer: RefObject<ComposerHandle | null>;
  threadId: string;
  agent: string | undefined;
  model: string | undefined;
  question: Question | null;
  tagging: boolean;
  typed: boolean;
  onSay: (out: Outgoing) => void;
  onCancel: () => void;
  busy: boolean;
  stopping: boolean;
  look: DockLook | undefined;
}

/** The composer of the thread. It is not rendered again while an answer streams. */
const Dock = memo(function Dock({ store, composer, threadId, agent, model, question, tagging, typed, onSay, onCancel, busy, stopping, look }: DockProps) {
  const pointer = useMedia("(pointer: fine)"); // on a phone, the keyboard would cover the page
  useEffect(() => {
    if (pointer && !typingElsewhere()) composer.current?.focus(); // the user may be in a search when the thread is loaded
  }, [pointer, composer]);

  // The composer gets the focus for a typed answer, and after a question has been answered.
  const asked = question?.interrupt_id;
  const had = useRef(asked);
  useEffect(() => {
    const moved = (typed && !tagging) || (!asked && had.current !== undefined);
    if (moved && pointer && !typingElsewhere()) composer.current?.focus();
    had.current = asked;
  }, [asked, typed, tagging, pointer, composer]);

  // The composer gets the focus again when it is enabled, unless the focus is elsewhere.
  const locked = look !== undefined && busy;
  const was = useRef(locked);
  useEffect(() => {
    if (was.current && !locked && pointer && document.activeElement === document.body) composer.current?.focus();
    was.current = locked;
  }, [locked, pointer, composer]);

  const hint = question === null ? look?.placeholder : tagging ? words.composer.placeholderChoose : typed ? words.composer.placeholderAnswer : words.composer.pickOption;
  return (
    <Composer
      ref={composer}
      threadId={threadId}
      busy={busy}
      stopping={stopping}
      disabled={locked && look.locked}
      answering={typed}
      agent={agent}
      model={model}
      items={look?.items}
      mentionLabel={look?.mentionLabel}
      {...(hint && { placeholder: hint })}
      onSend={onSay}
      onStop={() => void store.stop()}
      onCancel={question ? onCancel : look?.onLeave}
    />
  );
});

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
