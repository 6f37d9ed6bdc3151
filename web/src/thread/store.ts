import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type ChatTransport } from "ai";
import { ApiError } from "../api/http";
import type { Outgoing } from "../composer/types";
import { newId } from "../lib/id";
import * as api from "./api";
import { BACKOFF_MS, Connection, ConnectionLost } from "./connection";
import { adopt, answered, pendingQuestion, textOf, turnAt, turnOf, unanswered } from "./parts";
import { endOf, isNewest, parentOf, ROOT, type Branches } from "./tree";
import type { Message, Question, ResumeValue, Status } from "./types";
import { Watch } from "./watch";

export interface Problem {
  message: string;
  /** What Try again does: the same request (which joins its turn), another answer to the same message, or reading the conversation anew. */
  retry?: "same" | "again" | "reload";
  /** When another try is allowed, in ms since 1970. */
  until?: number;
}

/** A message that waits for the running turn to end. */
export interface Queued {
  id: string;
  text: string;
  turnId?: string;
  /** Why the server has not taken it. */
  failed?: string;
  body?: object;
}

/** What a page shows of a thread beside its messages. */
export interface View {
  load: "loading" | "ready" | "missing" | "failed";
  loadProblem: string;
  branches: Branches;
  /** Older messages exist. */
  more: boolean;
  loadingMore: boolean;
  /** What the running turn is doing, oldest first. */
  statuses: Status[];
  /** Why the server is being sought again; empty while it answers. */
  trouble: string;
  /** The running turn goes on, but its stream is away. */
  away: boolean;
  stopping: boolean;
  problem: Problem | null;
  queued: Queued[];
}

const START: View = { load: "loading", loadProblem: "", branches: {}, more: false, loadingMore: false, statuses: [], trouble: "", away: false, stopping: false, problem: null, queued: [] };

/** A request for a turn, kept so that the same can be sent again. */
interface Request {
  kind: "send" | "answer";
  body: Record<string, unknown>;
  clientTurnId?: string;
  question?: Question;
}

export interface Callbacks {
  /** A turn has begun, paused or ended: lists may have changed. */
  onActivity?: () => void;
  /** The server has the first message. */
  onFirstAccepted?: () => void;
}

/** Without this, a follow-on could overtake the message it talks over. */
const ACCEPT_MS = 5_000;

/**
 * One thread as a page sees it. The Chat object of the AI SDK puts the messages
 * together; this class decides what is sent, and what follows when a stream
 * breaks, a question is asked, or something happens elsewhere:
 *
 *   load ──> idle ──> send, edit, regenerate, answer ──> streaming ──> idle
 *             │ ^                                          │  ^
 *             v └── changed elsewhere: load again          v  │
 *           watching                              cut: re-attach with back-off
 */
export class ThreadStore {
  readonly chat: Chat<Message>;
  private view = START;
  private readonly listeners = new Set<() => void>();
  private readonly connection: Connection;
  private readonly watch: Watch;
  private request: Request | undefined;
  private accepted: { promise: Promise<void>; resolve: () => void } | undefined;
  private loading: AbortController | undefined;
  /** Rises with everything a person does, so that what was going on knows it is over. */
  private turn = 0;
  private cuts = 0;
  private nothingToAttach = false;
  private head: string | undefined;
  private live = false;

  constructor(
    readonly id: string,
    private readonly callbacks: Callbacks = {},
    private readonly options: { backoff?: readonly number[]; silence?: number } = {},
  ) {
    this.connection = new Connection(
      {
        onTrouble: (trouble) => this.set({ trouble }),
        onAnswer: (res) => this.onAnswer(res),
      },
      options.backoff,
      options.silence,
    );
    this.watch = new Watch(id, () => void this.load(), undefined, options.backoff);
    this.chat = new Chat<Message>({
      id,
      generateId: newId,
      transport: this.transport(),
      onData: (part) => {
        if (part.type === "data-status") this.onStatus(part.data as Status);
      },
      onError: (err) => this.onError(err),
      onFinish: ({ isAbort, isError }) => {
        if (!isAbort && !isError) setTimeout(() => this.onEnd());
      },
    });
  }

  // What a page reads.

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): View => this.view;

  get busy(): boolean {
    return this.chat.status === "submitted" || this.chat.status === "streaming" || this.view.away;
  }

  // Its life.

  start(first?: Outgoing): void {
    this.live = true;
    window.addEventListener("online", this.hurry);
    document.addEventListener("visibilitychange", this.onVisibility);
    if (first) {
      this.set({ load: "ready" });
      void this.post(first, { clientTurnId: `first:${this.id}`, parent: undefined });
    } else void this.load();
  }

  stopAll(): void {
    this.live = false;
    this.turn++;
    window.removeEventListener("online", this.hurry);
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.loading?.abort();
    this.watch.stop();
    void this.chat.stop();
  }

  private readonly hurry = (): void => this.connection.hurry();

  private readonly onVisibility = (): void => {
    if (document.visibilityState === "hidden") return this.watch.stop(); // browsers give a host few connections
    this.connection.hurry();
    this.rest();
  };

  // What a person does.

  /** Sends a message; what it does to a running turn it says itself. */
  async send(out: Outgoing): Promise<void> {
    if (this.busy && out.onBusy === "enqueue") return this.enqueue(out);
    await this.letGo();
    await this.post(out, { clientTurnId: newId(), parent: this.place() });
  }

  /** Sends another text in the place of a message. */
  async edit(turn: string, text: string): Promise<void> {
    const { messages } = this.chat;
    const i = this.userIndex(turn);
    const message = messages[i];
    if (!message) return;
    await this.letGo();
    const attachments = message.parts.flatMap((p) => (p.type === "file" ? [{ id: p.url.split("/").at(-1)!, url: p.url, mime: p.mediaType, name: p.filename ?? "" }] : []));
    const parent = parentOf(this.view.branches, turn) ?? (i === 0 ? ROOT : turnAt(messages, i - 1));
    this.chat.messages = this.chat.messages.slice(0, i);
    await this.post({ text, tiptap: {}, taggedDocIds: [], taggedSetIds: [], webSearch: false, attachments, onBusy: "supersede" }, { clientTurnId: newId(), parent });
  }

  /** Asks for another answer to the message of a turn. */
  async regenerate(turn: string): Promise<void> {
    const i = this.userIndex(turn);
    const message = this.chat.messages[i];
    if (!message) return;
    await this.letGo();
    const clientTurnId = newId();
    const again: Message = { ...message, metadata: { created_at: message.metadata?.created_at, client_turn_id: clientTurnId } };
    this.chat.messages = [...this.chat.messages.slice(0, i), again];
    const parts = message.parts.filter((p) => p.type === "text" || p.type === "file");
    await this.run({
      kind: "send",
      clientTurnId,
      body: { id: this.id, trigger: "regenerate-message", messageId: turn, messages: [{ id: message.id, role: "user", parts }], client_turn_id: clientTurnId, on_busy: "supersede" },
    });
  }

  /** Shows the branch that goes through a turn. */
  async show(turn: string): Promise<void> {
    const end = endOf(this.view.branches, turn);
    this.head = isNewest(this.view.branches, end) ? undefined : end;
    await this.load(true);
  }

  /** Answers the open question. */
  async answer(question: Question, value: ResumeValue): Promise<void> {
    const last = this.chat.messages.at(-1);
    if (this.busy || !last) return;
    this.watch.stop();
    this.chat.messages = answered(this.chat.messages, question.interrupt_id, value);
    const parts = last.parts.flatMap((p) => ("toolCallId" in p ? [{ type: p.type, toolCallId: p.toolCallId }] : []));
    await this.run({
      kind: "answer",
      question,
      body: { id: this.id, messageId: last.id, messages: [{ id: last.id, role: "assistant", parts }], resume: { interrupt_id: question.interrupt_id, resume_value: value } },
    });
  }

  /** Stops the running turn; the server keeps what was written, and says when it is over. */
  async stop(): Promise<void> {
    if (!this.busy || this.view.stopping) return;
    this.set({ stopping: true });
    this.connection.hurry();
    const last = this.chat.messages.at(-1);
    const turn = last?.role === "assistant" ? turnOf(last) : undefined;
    const name = this.request?.clientTurnId;
    try {
      await api.cancel(this.id, turn ? { turn_id: turn } : name ? { client_turn_id: name } : {});
    } catch (err) {
      this.set({ stopping: false, problem: { message: `The answer could not be stopped. ${words(err)}` } });
    }
  }

  retry(): void {
    const { problem } = this.view;
    if (!problem?.retry || (problem.until ?? 0) > Date.now()) return;
    this.set({ problem: null });
    if (problem.retry === "same" && this.request) return void this.run(this.request);
    const turn = turnAt(this.chat.messages, this.chat.messages.length - 1);
    if (problem.retry === "again" && turn) return void this.regenerate(turn);
    void this.load();
  }

  dismiss(): void {
    this.set({ problem: null });
    this.chat.clearError();
  }

  async unqueue(id: string): Promise<void> {
    const q = this.view.queued.find((x) => x.id === id);
    this.set({ queued: this.view.queued.filter((x) => x.id !== id) });
    if (!q || q.failed) return;
    try {
      await api.cancel(this.id, q.turnId ? { turn_id: q.turnId } : { client_turn_id: q.id });
    } catch (err) {
      this.set({ problem: { message: `The waiting message could not be taken back. ${words(err)}` } });
    }
  }

  requeue(id: string): void {
    const q = this.view.queued.find((x) => x.id === id);
    if (q?.body) void this.hand({ ...q, failed: undefined });
  }

  /** Reads older messages. */
  async loadMore(): Promise<void> {
    const oldest = this.chat.messages[0];
    if (!oldest || this.view.loadingMore || !this.view.more) return;
    this.set({ loadingMore: true });
    try {
      const got = await api.stretch(this.id, this.head, oldest.metadata?.server_id, new AbortController().signal);
      const known = new Set(this.chat.messages.map((m) => `${m.role} ${turnOf(m)}`));
      const older = got.messages.filter((m) => !known.has(`${m.role} ${turnOf(m)}`)).map(tagged);
      this.chat.messages = [...older, ...this.chat.messages];
      this.set({ loadingMore: false, more: older.length > 0 && got.more === true });
    } catch {
      this.set({ loadingMore: false });
    }
  }

  /** Reads the conversation from the server, then follows what runs in it. */
  async load(switching = false): Promise<void> {
    this.loading?.abort();
    const ctl = (this.loading = new AbortController());
    const turn = ++this.turn;
    this.request = undefined;
    this.watch.stop();
    if (this.chat.status === "submitted" || this.chat.status === "streaming") await this.chat.stop();
    if (!switching && this.chat.messages.length === 0) this.set({ load: "loading" });
    let list: api.Stretch;
    let state: api.State;
    try {
      [list, state] = await Promise.all([api.stretch(this.id, this.head, undefined, ctl.signal), api.state(this.id, ctl.signal)]);
    } catch (err) {
      if (ctl.signal.aborted || turn !== this.turn) return;
      this.set({ away: false, trouble: "", stopping: false });
      if (err instanceof ApiError && (err.status === 404 || err.status === 400)) return this.set({ load: "missing" });
      if (this.chat.messages.length > 0) return this.set({ problem: { message: words(err), retry: "reload" } });
      return this.set({ load: "failed", loadProblem: words(err) });
    }
    if (turn !== this.turn) return;
    const active = state.active_turn?.turn_id;
    const { messages, queued } = apart(list.messages.map(tagged), active);
    this.chat.messages = adopt(this.chat.messages, messages);
    this.chat.clearError();
    this.set({
      load: "ready",
      branches: state.branches ?? {},
      more: list.more === true,
      statuses: [],
      away: false,
      trouble: "",
      stopping: false,
      problem: null,
      queued,
    });
    if (active && pendingQuestion(this.chat.messages)?.turn_id !== active) return this.attach();
    this.callbacks.onActivity?.();
    this.rest();
  }

  // The way of a request.

  private async post(out: Outgoing, how: { clientTurnId: string; parent: string | undefined }): Promise<void> {
    this.head = undefined;
    await this.run(
      { kind: "send", clientTurnId: how.clientTurnId, body: submission(this.id, out, how.clientTurnId, how.parent, "supersede") },
      {
        id: newId(),
        role: "user",
        metadata: { created_at: new Date().toISOString(), client_turn_id: how.clientTurnId },
        parts: contentOf(out),
      },
    );
  }

  private async run(request: Request, message?: Message): Promise<void> {
    this.turn++;
    this.watch.stop();
    this.loading?.abort();
    this.request = request;
    this.cuts = 0;
    let resolve = () => {};
    this.accepted = { promise: new Promise<void>((r) => (resolve = r)), resolve: () => resolve() };
    this.set({ problem: null, statuses: [], stopping: false, trouble: "" });
    if (message) await this.chat.sendMessage(message);
    else if (request.kind === "answer") await this.chat.sendMessage();
    else await this.chat.regenerate();
  }

  private transport(): ChatTransport<Message> {
    const store = this;
    const transport = new DefaultChatTransport<Message>({
      api: "/api/ui/chat",
      credentials: "same-origin",
      fetch: this.connection.fetch as typeof fetch,
      prepareSendMessagesRequest: () => ({ body: store.request?.body ?? {} }),
    });
    const reconnect = transport.reconnectToStream.bind(transport);
    transport.reconnectToStream = async (options) => {
      const stream = await reconnect(options);
      this.nothingToAttach = stream === null;
      return stream;
    };
    return transport;
  }

  private onAnswer(res: Response): void {
    this.accepted?.resolve();
    if (this.view.away) this.set({ away: res.status === 204 });
    if (this.request?.clientTurnId?.startsWith("first:")) this.callbacks.onFirstAccepted?.();
    this.callbacks.onActivity?.();
  }

  private onStatus(s: Status): void {
    const { statuses } = this.view;
    const last = statuses.at(-1);
    this.set({ statuses: last?.node === s.node && last.message === s.message ? [...statuses.slice(0, -1), { ...last, ...s }] : [...statuses, s] });
  }

  /** A stream has ended as it should: the turn is over, or asks. */
  private onEnd(): void {
    this.cuts = 0;
    this.stamp();
    this.set({ statuses: [], stopping: false, away: false, trouble: "" });
    this.callbacks.onActivity?.();
    if (!this.live || this.busy) return;
    if (this.view.queued.some((q) => !q.failed) && !pendingQuestion(this.chat.messages)) return void this.load();
    this.rest();
  }

  /** A message that has just come was written now. */
  private stamp(): void {
    const last = this.chat.messages.at(-1);
    if (last?.role !== "assistant" || last.metadata?.created_at || pendingQuestion(this.chat.messages)) return;
    this.chat.messages = [...this.chat.messages.slice(0, -1), { ...last, metadata: { ...last.metadata, created_at: new Date().toISOString() } }];
  }

  private onError(err: Error): void {
    this.accepted?.resolve();
    if (err instanceof ConnectionLost && err.answered) return void setTimeout(() => this.reattach(err.message));
    const failed = this.chat.messages.at(-1)?.metadata?.error;
    this.set({ statuses: [], stopping: false, away: false, trouble: "" });
    const question = this.request?.kind === "answer" ? this.request.question : undefined;
    if (err instanceof ConnectionLost) {
      const sent = this.request === undefined || this.cuts > 0 || this.chat.messages.at(-1)?.role === "assistant";
      const message = question
        ? "Your answer could not be sent: the server cannot be reached."
        : sent
          ? "The connection could not be restored. Nothing is lost: the server goes on with your question."
          : "Your message could not be sent: the server cannot be reached.";
      return this.set({ problem: { message, retry: question || !sent ? "same" : "reload" } });
    }
    if (err instanceof ApiError) {
      if (question && err.code === "no_pending_interrupt") return void setTimeout(() => this.load()); // answered elsewhere
      if (question && err.status < 500 && err.status !== 429) this.chat.messages = unanswered(this.chat.messages, question.interrupt_id);
      if (err.status === 429) {
        const until = Date.now() + Math.max(1, err.retryAfter) * 1000;
        return this.set({ problem: { message: "That was a little fast.", retry: "same", until } });
      }
      return this.set({ problem: { message: err.message, ...(err.status >= 500 && { retry: "same" as const }) } });
    }
    if (failed) {
      this.callbacks.onActivity?.();
      this.set({ problem: { message: failed.message, ...(failed.retryable && { retry: "again" as const }) } });
      setTimeout(() => this.rest());
      return;
    }
    this.set({ problem: { message: "The answer could not be shown.", retry: "reload" } });
  }

  /** Follows the running turn from its beginning. */
  private async attach(): Promise<void> {
    const turn = this.turn;
    this.set({ away: true });
    await this.chat.resumeStream();
    if (turn !== this.turn || !this.live || !this.nothingToAttach) return;
    this.nothingToAttach = false;
    await this.load(); // it ended meanwhile
  }

  /** Comes back to a turn whose stream broke. */
  private async reattach(why: string): Promise<void> {
    if (!this.live) return;
    const turn = this.turn;
    const waits = this.options.backoff ?? BACKOFF_MS;
    const wait = waits[this.cuts++];
    if (wait === undefined) return this.set({ away: false, problem: { message: "The connection could not be restored. Nothing is lost: the server goes on with your question.", retry: "reload" } });
    this.set({ away: true, trouble: why });
    await this.connection.pause(wait);
    if (turn !== this.turn || !this.live) return;
    await this.attach();
  }

  /** Lets go of the stream of a running turn, which is about to be talked over. Its message is on the server before another goes out. */
  private async letGo(): Promise<void> {
    this.turn++;
    this.loading?.abort();
    if (!this.busy) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const enough = new Promise<void>((r) => (timer = setTimeout(r, ACCEPT_MS)));
    await Promise.race([this.accepted?.promise, enough]);
    clearTimeout(timer);
    await this.chat.stop();
    this.set({ away: false, trouble: "" });
    const last = this.chat.messages.at(-1);
    if (last?.role !== "assistant" || (last.metadata?.finished_reason && last.metadata.finished_reason !== "interrupted")) return;
    const cut: Message = { ...last, metadata: { ...last.metadata, finished_reason: "cancelled", interrupted: true, interrupted_reason: "superseded" } };
    this.chat.messages = [...this.chat.messages.slice(0, -1), cut];
  }

  private async enqueue(out: Outgoing): Promise<void> {
    const id = newId();
    await this.hand({ id, text: out.text, body: submission(this.id, out, id, undefined, "enqueue") });
  }

  private async hand(q: Queued): Promise<void> {
    const put = (next: Queued) => {
      const rest = this.view.queued;
      this.set({ queued: rest.some((x) => x.id === q.id) ? rest.map((x) => (x.id === q.id ? next : x)) : [...rest, next] });
    };
    put(q);
    try {
      const turnId = await api.leave(q.body!);
      if (!this.view.queued.some((x) => x.id === q.id)) return; // taken back meanwhile
      put({ ...q, turnId });
      if (!this.busy && !pendingQuestion(this.chat.messages)) await this.load(); // nothing to wait for any more
    } catch (err) {
      put({ ...q, failed: words(err) });
    }
  }

  /** The turn that a new message follows; none when that is the newest, which the server knows best. */
  private place(): string | undefined {
    const { messages } = this.chat;
    const last = turnAt(messages, messages.length - 1);
    if (!this.head || !last || isNewest(this.view.branches, last)) return undefined;
    return last;
  }

  private userIndex(turn: string): number {
    const { messages } = this.chat;
    return messages.findIndex((m, i) => m.role === "user" && turnAt(messages, i) === turn);
  }

  /** Nothing runs here: what changes elsewhere is watched for, and the tree read. */
  private rest(): void {
    if (!this.live || this.busy || this.view.load !== "ready" || document.visibilityState === "hidden") return;
    if (!this.chat.messages.some((m) => turnOf(m))) return; // the server does not know it yet
    const turn = this.turn;
    this.watch.start(pendingQuestion(this.chat.messages)?.interrupt_id, () => void this.compare(turn));
  }

  /** Looks whether the server has gone on while nobody watched. */
  private async compare(turn: number): Promise<void> {
    try {
      const state = await api.state(this.id, new AbortController().signal);
      if (turn !== this.turn || this.busy) return;
      this.set({ branches: state.branches ?? {} });
      const asked = pendingQuestion(this.chat.messages);
      const here = turnAt(this.chat.messages, this.chat.messages.length - 1);
      const there = state.messages?.at(-1)?.turn_id;
      const moved = asked ? state.active_turn?.turn_id !== asked.turn_id : state.active_turn !== null || (!this.head && there !== undefined && there !== here);
      if (moved) await this.load();
    } catch {
      // The watch itself comes again.
    }
  }

  private set(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    for (const listener of this.listeners) listener();
  }
}

/** The body of a new message: only what is new, for the server has the rest. */
export function submission(thread: string, out: Outgoing, clientTurnId: string, parent: string | undefined, onBusy: Outgoing["onBusy"]): Record<string, unknown> {
  const agent = (out as { agent?: string }).agent;
  return {
    id: thread,
    trigger: "submit-message",
    message: { id: clientTurnId, role: "user", parts: contentOf(out) },
    client_turn_id: clientTurnId,
    on_busy: onBusy,
    ...(parent && { parent_checkpoint_id: parent }),
    ...(Object.keys(out.tiptap).length > 0 && { tiptap_json: out.tiptap }),
    ...(out.taggedDocIds.length > 0 && { tagged_doc_ids: out.taggedDocIds }),
    ...(out.taggedSetIds.length > 0 && { tagged_set_ids: out.taggedSetIds }),
    ...(out.action && { action: out.action }),
    ...(out.webSearch && { enable_web_search: true }),
    ...(agent && { agent }),
  };
}

const contentOf = (out: Outgoing): Message["parts"] => [
  ...out.attachments.map((a) => ({ type: "file" as const, url: a.url, mediaType: a.mime, filename: a.name })),
  ...(out.text.trim() ? [{ type: "text" as const, text: out.text.trim() }] : []),
];

/** Messages up to the running turn, and those that wait behind it. One that was taken back while it waited shows when the turn is over. */
export function apart(messages: Message[], active: string | undefined): { messages: Message[]; queued: Queued[] } {
  const i = active ? messages.findIndex((m) => turnOf(m) === active) : -1;
  if (i < 0) return { messages, queued: [] };
  const later = messages.slice(i).filter((m) => turnOf(m) !== active);
  const over = new Set(later.filter((m) => m.role === "assistant").map(turnOf));
  const queued = later.filter((m) => m.role === "user" && !over.has(turnOf(m)));
  return { messages: messages.filter((m) => !later.includes(m)), queued: queued.map((m) => ({ id: m.id, text: textOf(m), turnId: turnOf(m) })) };
}

/** A message as the server has it, with the id that it knows it by: on the page it keeps the id it was first shown by. */
const tagged = (m: Message): Message => ({ ...m, metadata: { ...m.metadata, server_id: m.id } });

const words = (err: unknown): string => (err instanceof ApiError ? err.message : "Something went wrong on this page. Please try again.");
