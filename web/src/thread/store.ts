import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type ChatTransport } from "ai";
import { ApiError, type Detail } from "../api/http";
import { errorText } from "../api/query";
import { noteLeft } from "../api/space";
import type { Outgoing } from "../composer/types";
import { newId } from "../lib/id";
import { hasTokens } from "../session/token";
import { words } from "../words";
import * as api from "./api";
import { anotherAnswer, ownMessage, reply, submission, type Body } from "./bodies";
import { BACKOFF_MS, Connection, ConnectionLost } from "./connection";
import { keepHead, readHead } from "./heads";
import { isUnknown, readHistory, readOlder, type History } from "./history";
import { skipLeft } from "./left";
import { adopt, answered, before, supersededMessage, pendingQuestion, withLastSuperseded, turnAt, turnOf, unanswered, userAt } from "./parts";
import { problemOf, UNRESTORED, type Problem } from "./problems";
import { Queue, type Queued } from "./queue";
import { endOf, isNewest, parentOf, ROOT, type Branches } from "./tree";
import type { Message, Question, ResumeValue, Status } from "./types";
import { dropUnsent, keepUnsent, unsentOf, type Unsent } from "./unsent";
import { Watch } from "./watch";

/** What a page shows of a thread besides its messages. */
export interface View {
  load: "loading" | "ready" | "missing" | "failed";
  loadProblem: string;
  branches: Branches;
  /** Whether older messages exist. */
  more: boolean;
  loadingMore: boolean;
  /** Why they failed to load; empty if they did not. */
  moreProblem: string;
  /** Statuses of the running turn, oldest first. */
  statuses: Status[];
  /** Why the page reconnects; empty while it is connected. */
  connectionProblem: string;
  /** Whether a turn runs whose stream is not connected. */
  away: boolean;
  stopping: boolean;
  problem: Problem | null;
  /** What the server says about the fields of an answer that it rejected. */
  refused: readonly Detail[];
  queued: Queued[];
}

const START: View = { load: "loading", loadProblem: "", branches: {}, more: false, loadingMore: false, moreProblem: "", statuses: [], connectionProblem: "", away: false, stopping: false, problem: null, refused: [], queued: [] };

/** A request for a turn, kept for retries. */
interface Request {
  kind: "send" | "answer";
  body: Body;
  clientTurnId?: string;
  question?: Question;
  /** The user's message, returned if it is rejected. */
  out?: Outgoing | undefined;
  /** The text of a message at the end of the thread, which can be queued instead. */
  text?: string;
  /** Whether the server has accepted it. */
  taken?: boolean;
}

export interface Callbacks {
  /** Called when a turn started, paused or ended: lists may have changed. */
  onActivity?: () => void;
  /** Called when the server has accepted the first message, or one that replaces it. */
  onFirstAccepted?: () => void;
  /** Called with a message that was not accepted and will not be sent: it returns to the composer. unknown means that the server does not have the thread. */
  onReturned?: (out: Outgoing, unknown: boolean) => void;
}

/** Maximum time to wait until a message is accepted: the next one must not overtake it. */
const ACCEPT_MS = 5_000;

/** A stream that broke after this time resets the retry delays. */
const STEADY_MS = 10_000;

/**
 * One thread on a page. The Chat object of the AI SDK assembles the messages; this
 * class decides what is sent, and what follows when a stream breaks, a question
 * opens, or another client changes the thread:
 *
 *   load ──> idle ──> send, edit, regenerate, answer ──> streaming ──> idle
 *             │ ^                                          │  ^
 *             v └── changed elsewhere: load again          v  │
 *           watching                       disconnected: re-attach with back-off
 */
export class ThreadStore {
  readonly chat: Chat<Message>;
  private view = START;
  private readonly listeners = new Set<() => void>();
  private readonly connection: Connection;
  private readonly watch: Watch;
  private readonly queue: Queue;
  private request: Request | undefined;
  private accepted: { promise: Promise<void>; resolve: () => void } | undefined;
  /** Resolves when the last request was started: the next one waits for it. */
  private sending: Promise<void> = Promise.resolve();
  private reading: Promise<boolean> = Promise.resolve(false);
  private loading: AbortController | undefined;
  /** Incremented by each action, so that earlier async work knows that it is outdated. */
  private turn = 0;
  private disconnects = 0;
  private answeredAt = 0;
  private nothingToAttach = false;
  /** Whether reconnecting was given up, so that the page shows only a part of the answer. */
  private partial = false;
  /** The last turn of the branch that is shown; undefined means the newest. */
  private head: string | undefined;
  private live = false;

  constructor(
    readonly id: string,
    private readonly callbacks: Callbacks = {},
    private readonly options: { backoff?: readonly number[]; silence?: number; /** The server may not know the thread yet: then it is empty. */ mayBeNew?: boolean; /** Somebody else's: its turns are not followed. */ readOnly?: boolean } = {},
  ) {
    this.connection = new Connection(
      {
        onRetrying: (connectionProblem) => this.set({ connectionProblem }),
        onAnswer: () => this.onAnswer(),
      },
      options.backoff,
      options.silence,
    );
    this.watch = new Watch(id, () => void this.load(), undefined, options.backoff);
    this.queue = new Queue(id, {
      onChange: (queued) => this.set({ queued }),
      onTaken: () => {
        if (!this.busy && !pendingQuestion(this.chat.messages)) void this.load(); // no turn runs before it, so its own turn is running now
      },
    });
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

  // State for the page.

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): View => this.view;

  get busy(): boolean {
    return this.chat.status === "submitted" || this.chat.status === "streaming" || this.view.away;
  }

  // Lifecycle.

  start(first?: Outgoing): void {
    this.live = true;
    window.addEventListener("online", this.retryNow);
    document.addEventListener("visibilitychange", this.onVisibility);
    if (first) {
      this.set({ load: "ready" });
      void this.post(first, { clientTurnId: firstTurnId(this.id), parent: undefined });
      return;
    }
    this.head = readHead(this.id);
    void this.load();
  }

  stopAll(): void {
    this.live = false;
    this.turn++;
    window.removeEventListener("online", this.retryNow);
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.loading?.abort();
    this.watch.stop();
    void this.chat.stop();
  }

  private readonly retryNow = (): void => {
    this.connection.retryNow();
    if (this.view.load === "failed" || this.view.problem?.retry === "reload") void this.load();
  };

  private readonly onVisibility = (): void => {
    if (document.visibilityState === "hidden") return this.watch.stop(); // browsers limit connections per host
    this.retryNow();
    this.watchWhenIdle();
  };

  // User actions.

  /** Sends a message; onBusy says what it does to a running turn. */
  async send(out: Outgoing): Promise<void> {
    if (this.busy && out.onBusy !== "supersede") return this.queue.add(out, this.reached());
    await this.next(async () => {
      if (this.view.load === "ready") await this.post(out, { clientTurnId: newId(), parent: this.nextParent() });
      else keepUnsent(this.id, { out, clientTurnId: newId() }); // until the thread can be loaded
    });
  }

  /** Replaces a turn's message by another one. */
  async edit(turn: string, out: Outgoing): Promise<void> {
    await this.next(async () => {
      const { messages } = this.chat;
      const i = userAt(this.chat.messages, turn);
      if (i < 0) return;
      const parent = parentOf(this.view.branches, turn) ?? (i === 0 ? ROOT : turnAt(messages, i - 1));
      this.chat.messages = messages.slice(0, i);
      await this.post(out, { clientTurnId: newId(), parent });
    });
  }

  async regenerate(turn: string): Promise<void> {
    await this.next(async () => {
      const i = userAt(this.chat.messages, turn);
      const message = this.chat.messages[i];
      if (!message) return;
      this.setHead(undefined);
      const clientTurnId = newId();
      const { created_at, tiptap_json } = message.metadata ?? {};
      const again: Message = { ...message, metadata: { created_at, tiptap_json, client_turn_id: clientTurnId } };
      this.chat.messages = [...this.chat.messages.slice(0, i), again];
      await this.run({ kind: "send", clientTurnId, body: anotherAnswer(this.id, turn, message, clientTurnId) });
    });
  }

  /** Shows the newest branch through a turn. */
  async show(turn: string): Promise<void> {
    const end = endOf(this.view.branches, turn);
    this.setHead(isNewest(this.view.branches, end) ? undefined : end);
    await this.load(true);
  }

  /** Answers the open question; out is the typed answer, if any. */
  async answer(question: Question, value: ResumeValue, out?: Outgoing): Promise<void> {
    const last = this.chat.messages.at(-1);
    if (this.busy || !last) return;
    this.watch.stop();
    this.chat.messages = answered(this.chat.messages, question.interrupt_id, value);
    await this.run({ kind: "answer", question, out, body: reply(this.id, last, question, value) });
  }

  /** Stops the running turn. The server keeps the partial answer and then ends the stream. */
  async stop(): Promise<void> {
    if (!this.busy || this.view.stopping) return;
    this.set({ stopping: true });
    this.connection.retryNow();
    const last = this.chat.messages.at(-1);
    const turn = last?.role === "assistant" ? turnOf(last) : undefined;
    const name = this.request?.clientTurnId;
    try {
      await api.cancel(this.id, turn ? { turn_id: turn } : name ? { client_turn_id: name } : {});
    } catch (err) {
      this.set({ stopping: false, problem: { message: words.problems.stopFailed(errorText(err)) } });
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

  /** Dismisses a problem. An unsent message is abandoned and returns to the composer. */
  dismiss(): void {
    const { request } = this;
    dropUnsent(this.id);
    this.set({ problem: null });
    this.chat.clearError();
    if (!request || request.taken) return this.watchWhenIdle();
    const known = this.chat.messages.some((m) => turnOf(m)) || Object.keys(this.view.branches).length > 0; // the server has it
    if (request.out) this.callbacks.onReturned?.(request.out, !known);
    if (known) void this.load(); // removes the unsent message
  }

  /** Withdraws a queued message. */
  async unqueue(id: string): Promise<void> {
    try {
      await this.queue.remove(id);
    } catch (err) {
      this.set({ problem: { message: words.problems.unqueueFailed(errorText(err)) } });
    }
  }

  /** Replaces a queued message by an edited one. If it no longer waits, the edited one returns to the composer. */
  async editQueued(id: string, out: Outgoing): Promise<void> {
    try {
      await this.queue.replace(id, out);
    } catch (err) {
      this.set({ problem: { message: errorText(err) } });
      this.callbacks.onReturned?.(out, false);
    }
  }

  /** Retries a queued message that the server did not accept. */
  requeue(id: string): void {
    void this.queue.retry(id);
  }

  async loadMore(): Promise<void> {
    const oldest = this.chat.messages[0];
    if (!oldest || this.view.loadingMore || !this.view.more) return;
    this.set({ loadingMore: true, moreProblem: "" });
    const turn = this.turn;
    try {
      const got = await readOlder(this.id, this.head, oldest.metadata?.server_id);
      if (turn !== this.turn) return this.set({ loadingMore: false }); // the page shows another version by now
      const known = new Set(this.chat.messages.map((m) => `${m.role} ${turnOf(m)}`));
      const older = got.messages.filter((m) => !known.has(`${m.role} ${turnOf(m)}`));
      this.chat.messages = [...older, ...this.chat.messages];
      this.set({ loadingMore: false, more: older.length > 0 && got.more });
    } catch (err) {
      this.set({ loadingMore: false, moreProblem: errorText(err) });
    }
  }

  /** Loads the thread, then attaches to its running turn. */
  async load(switching = false): Promise<void> {
    this.reading = this.read(switching);
    if (await this.reading) await this.attach();
  }

  /** Loads the thread. Returns whether a turn runs in it. */
  private async read(switching: boolean): Promise<boolean> {
    this.loading?.abort();
    const ctl = (this.loading = new AbortController());
    const turn = ++this.turn;
    this.request = undefined;
    this.accepted?.resolve();
    this.watch.stop();
    if (this.chat.status === "submitted" || this.chat.status === "streaming") await this.chat.stop();
    if (!switching && this.chat.messages.length === 0) this.set({ load: "loading" });
    let got: History;
    try {
      got = await readHistory(this.id, this.head, ctl.signal);
    } catch (err) {
      if (!ctl.signal.aborted && turn === this.turn) this.showLoadError(err);
      return false;
    }
    if (turn !== this.turn) return false;
    if (got.head !== this.head) this.setHead(got.head);
    const read = adopt(this.chat.messages, got.messages);
    const older = got.more ? before(this.chat.messages, read) : [];
    this.chat.messages = [...older, ...read];
    this.chat.clearError();
    this.queue.adopt(got.queued, new Set(got.messages.flatMap((m) => m.metadata?.client_turn_id ?? [])));
    this.disconnects = 0;
    this.partial = false;
    this.set({
      load: "ready",
      branches: got.branches,
      more: older.length > 0 ? this.view.more : got.more,
      moreProblem: "",
      statuses: [],
      away: false,
      connectionProblem: "",
      stopping: false,
      problem: null,
    });
    if (got.active && !this.options.readOnly && pendingQuestion(this.chat.messages)?.turn_id !== got.active) return true;
    this.callbacks.onActivity?.();
    this.watchWhenIdle();
    return false;
  }

  /** Shows that the thread failed to load. */
  private showLoadError(err: unknown): void {
    this.set({ away: false, connectionProblem: "", stopping: false });
    if (isUnknown(err)) this.set({ load: this.options.mayBeNew && this.chat.messages.length === 0 ? "ready" : "missing" });
    else if (this.chat.messages.length > 0) this.set({ problem: { message: errorText(err), retry: "reload" } });
    else this.set({ load: "failed", loadProblem: errorText(err) });
  }

  private setHead(head: string | undefined): void {
    this.head = head;
    keepHead(this.id, head);
  }

  // Requests.

  /**
   * Abandons what runs and sends something instead. Requests go one at a time:
   * before the next one is sent, it is known whether the server has the last one.
   */
  private async next(send: () => Promise<void>): Promise<void> {
    const before = this.sending;
    let sent = () => {};
    this.sending = new Promise((resolve) => (sent = resolve));
    let ended: Promise<void>;
    try {
      await before;
      if (this.view.load === "loading") await this.reading; // after that, the parent of the message is known
      await this.endCurrent();
      ended = send();
    } finally {
      sent();
    }
    await ended;
  }

  private async post(out: Outgoing, how: Omit<Unsent, "out">): Promise<void> {
    void skipLeft(this.id).then((skipped) => skipped && this.callbacks.onActivity?.());
    this.setHead(undefined);
    const message = { out, ...how };
    if (how.clientTurnId !== firstTurnId(this.id)) keepUnsent(this.id, message); // the first one is stored elsewhere (shell/pending)
    await this.run(this.requestOf(message), ownMessage(newId(), message.out, message.clientTurnId));
  }

  private requestOf({ out, clientTurnId, parent }: Unsent): Request {
    return { kind: "send", clientTurnId, out, body: submission(this.id, out, clientTurnId, parent, "supersede"), ...(parent === undefined && { text: out.text }) };
  }

  /** Restores a message that the server had not accepted when the page was reloaded. */
  private restoreUnsent(): void {
    const { messages } = this.chat;
    const kept = unsentOf(this.id);
    if (!kept) return;
    const known = messages.find((m) => m.metadata?.client_turn_id === kept.clientTurnId);
    if (known?.metadata?.server_id) dropUnsent(this.id);
    if (known) return;
    const after = kept.parent === ROOT ? 0 : messages.findLastIndex((m) => turnOf(m) === kept.parent) + 1 || messages.length;
    this.request = this.requestOf(kept);
    this.chat.messages = [...messages.slice(0, after), ownMessage(newId(), kept.out, kept.clientTurnId)];
    this.set({ problem: { message: words.problems.lastNotSent, retry: "same" } });
  }

  private async run(request: Request, message?: Message): Promise<void> {
    this.turn++;
    this.watch.stop();
    this.loading?.abort();
    this.request = request;
    this.disconnects = 0;
    let resolve = () => {};
    this.accepted = { promise: new Promise<void>((r) => (resolve = r)), resolve: () => resolve() };
    this.set({ problem: null, refused: [], statuses: [], stopping: false, connectionProblem: "" });
    const { body } = request;
    if (message) await this.chat.sendMessage(message, { body });
    else if (request.kind === "answer") await this.chat.sendMessage(undefined, { body });
    else await this.chat.regenerate({ body });
  }

  private transport(): ChatTransport<Message> {
    const transport = new DefaultChatTransport<Message>({
      api: "/api/ui/chat",
      credentials: "same-origin",
      fetch: this.connection.fetch as typeof fetch,
      prepareSendMessagesRequest: ({ body }) => ({ body: body ?? {} }), // run built it
    });
    const reconnect = transport.reconnectToStream.bind(transport);
    transport.reconnectToStream = async (options) => {
      const stream = await reconnect(options);
      this.nothingToAttach = stream === null;
      return stream;
    };
    return transport;
  }

  private onAnswer(): void {
    this.answeredAt = Date.now();
    this.accepted?.resolve();
    if (this.request) this.request.taken = true;
    if (this.request?.kind === "send") {
      dropUnsent(this.id);
      this.callbacks.onFirstAccepted?.();
    }
    this.callbacks.onActivity?.();
  }

  private onStatus(s: Status): void {
    const { statuses } = this.view;
    const last = statuses.at(-1);
    this.set({ statuses: last?.node === s.node && last.message === s.message ? [...statuses.slice(0, -1), { ...last, ...s }] : [...statuses, s] });
  }

  /** A stream ended normally: the turn has ended or asks a question. */
  private onEnd(): void {
    this.disconnects = 0;
    this.setEndTime();
    this.set({ statuses: [], stopping: false, away: false, connectionProblem: "" });
    this.callbacks.onActivity?.();
    if (!this.live || this.busy) return;
    if (this.queue.hasPending && !pendingQuestion(this.chat.messages)) return void this.load();
    this.watchWhenIdle();
  }

  /** Sets the time of an answer to its end; the stream has the time of its start. */
  private setEndTime(): void {
    const last = this.chat.messages.at(-1);
    if (last?.role !== "assistant" || pendingQuestion(this.chat.messages)) return;
    this.chat.messages = [...this.chat.messages.slice(0, -1), { ...last, metadata: { ...last.metadata, created_at: new Date().toISOString() } }];
  }

  private onError(err: Error): void {
    this.accepted?.resolve();
    if (err instanceof ConnectionLost && err.answered) return void setTimeout(() => this.reattach(err.message));
    if (this.chat.messages.at(-1)?.metadata?.error?.code === REMOVED) noteLeft();
    if (this.chat.messages.at(-1)?.metadata?.error?.code === EXPIRED && hasTokens()) return void setTimeout(() => this.reattach("")); // the turn continues; a new token will be used
    const question = this.request?.kind === "answer" ? this.request.question : undefined;
    this.set({ statuses: [], stopping: false, away: false, connectionProblem: "" });
    if (question && err instanceof ApiError && err.code === "no_pending_interrupt") return void setTimeout(() => this.load()); // another client answered
    const refused = question && err instanceof ApiError && err.status > 0 && err.status < 500 && err.status !== 429;
    const failure = this.chat.messages.at(-1)?.metadata?.error;
    if (failure) this.callbacks.onActivity?.();
    const { taken, out } = this.request ?? { taken: true };
    this.showProblem(problemOf(err, { question, taken: taken === true, written: out !== undefined, failure }));
    if (refused) this.returnToComposer(err.details);
    setTimeout(() => this.watchWhenIdle());
  }

  private showProblem(problem: Problem): void {
    this.partial = problem === UNRESTORED;
    this.set({ away: false, problem });
  }

  /** Reopens a question whose answer was rejected, and returns the text to the composer. */
  private returnToComposer(refused: readonly Detail[]): void {
    const { question, out } = this.request ?? {};
    this.request = undefined;
    this.set({ refused });
    if (question) this.chat.messages = unanswered(this.chat.messages, question.interrupt_id);
    if (out) this.callbacks.onReturned?.(out, false);
  }

  /** Attaches to the running turn's stream from its start. */
  private async attach(): Promise<void> {
    const turn = this.turn;
    this.set({ away: true, statuses: [] });
    await this.chat.resumeStream();
    if (turn !== this.turn || !this.live || !this.nothingToAttach) return;
    this.nothingToAttach = false;
    await this.load(); // the turn ended meanwhile
  }

  /** Reconnects to a turn whose stream broke. */
  private async reattach(why: string): Promise<void> {
    if (!this.live) return;
    const turn = this.turn;
    if (Date.now() - this.answeredAt > STEADY_MS) this.disconnects = 0;
    const waits = this.options.backoff ?? BACKOFF_MS;
    const wait = waits[this.disconnects++];
    if (wait === undefined) return this.showProblem(UNRESTORED);
    this.set({ away: true, connectionProblem: why });
    await this.connection.pause(wait);
    if (turn !== this.turn || !this.live) return;
    await this.attach();
  }

  /** Abandons the last send, or the open question, because a new message replaces it. */
  private async endCurrent(): Promise<void> {
    this.turn++;
    this.loading?.abort();
    await waitAtMost(ACCEPT_MS, this.accepted?.promise);
    const { request } = this;
    if (request?.kind === "send" && !request.taken) return this.abandonSend(request);
    if (!this.busy && !pendingQuestion(this.chat.messages)) return;
    await this.chat.stop();
    this.set({ away: false, connectionProblem: "" });
    this.chat.messages = [...withLastSuperseded(this.chat.messages), ...this.queue.removeSuperseded().flatMap(supersededMessage)];
  }

  /**
   * Abandons a message that the server has not accepted. Unless it already failed,
   * it is tried once more now, because it must not arrive after the next one. If it
   * fails, it joins the queue, or returns to the composer if it has a parent.
   */
  private async abandonSend(request: Request): Promise<void> {
    const { clientTurnId, text, body, out } = request;
    const tried = this.view.problem;
    await this.chat.stop();
    this.request = undefined;
    this.set({ away: false, connectionProblem: "", problem: null });
    const failed = tried?.message ?? (await api.sendOnly(body, ACCEPT_MS).then(() => undefined, errorText));
    request.taken = failed === undefined;
    this.accepted?.resolve();
    dropUnsent(this.id);
    if (failed === undefined) return;
    this.chat.messages = this.chat.messages.filter((m) => m.role !== "user" || m.metadata?.client_turn_id !== clientTurnId);
    if (text !== undefined) this.queue.refused({ id: clientTurnId!, text, body, failed });
    else {
      if (out) this.callbacks.onReturned?.(out, false);
      await this.read(true);
    }
  }

  /** Resolves to whether the last request has reached the server. */
  private async reached(): Promise<boolean> {
    const { request, accepted } = this;
    await accepted?.promise;
    return !request || request.taken === true;
  }

  /** The turn that a new message follows; undefined means the newest, which the server knows best. */
  private nextParent(): string | undefined {
    const { messages } = this.chat;
    const last = turnAt(messages, messages.length - 1);
    if (!this.head || !last || isNewest(this.view.branches, last)) return undefined;
    return last;
  }

  /** If no turn runs here: watches for changes by other clients and reads the branches. */
  private watchWhenIdle(): void {
    if (this.options.readOnly || !this.live || this.busy || this.view.load !== "ready" || document.visibilityState === "hidden") return;
    if (!this.chat.messages.some((m) => turnOf(m))) return; // the server does not have it yet
    this.restoreUnsent();
    if (this.request && !this.request.taken && this.request.text === undefined) return; // it replaces what the server has
    const turn = this.turn;
    this.watch.start(pendingQuestion(this.chat.messages)?.interrupt_id, () => void this.loadIfChanged(turn));
  }

  /** Loads the thread if it changed while the page was not watching. */
  private async loadIfChanged(turn: number): Promise<void> {
    try {
      const state = await api.state(this.id, new AbortController().signal);
      if (turn !== this.turn || this.busy) return;
      this.set({ branches: state.branches ?? {} });
      const asked = pendingQuestion(this.chat.messages);
      const here = turnOf(this.chat.messages.findLast((m) => turnOf(m))); // an unsent message has none
      const there = state.messages?.at(-1)?.turn_id;
      const moved = asked ? state.active_turn?.turn_id !== asked.turn_id : state.active_turn !== null || (!this.head && there !== undefined && there !== here) || this.partial;
      if (moved) await this.load();
    } catch {
      // The next reconnect of the watch compares again.
    }
  }

  private set(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    for (const listener of this.listeners) listener();
  }
}

/** Waits for a promise, but at most ms. */
async function waitAtMost(ms: number, what: Promise<void> | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([what, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
  clearTimeout(timer);
}

/** The error code of a stream that ended because its token expired. */
const EXPIRED = "unauthenticated";

/** The error code of a stream that ended because the person is no longer a member of its space. */
const REMOVED = "forbidden";

/** The client_turn_id of a thread's first message. It is the same after a reload. */
const firstTurnId = (thread: string): string => `first:${thread}`;
