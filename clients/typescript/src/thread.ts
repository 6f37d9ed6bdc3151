import { newId, query, withBody, type Http } from "./http.ts";
import type { Cancel, DecisionBody, History, Message, NativeChatBody, NativeInterrupt, NativeResumeBody } from "./openapi.ts";
import { Turn, type TurnState } from "./turn.ts";

/** A message with the fields of POST /api/chat (docs/contract.md). */
export type Outgoing = Omit<NativeChatBody, "thread_id" | "stream_mode" | "stream_tokens">;
/** How a message is sent: with on_busy, agent, documents and so on. */
export type SendOptions = Omit<Outgoing, "message">;
export type Answer = NativeResumeBody["resume_value"];

export interface ChatMessage {
  id: string;
  role: "user" | "assistant" | "system";
  text: string;
  /** Where it stands: a message with parent_checkpoint_id follows it. */
  checkpoint?: string;
  /** The turn that writes it, while this client follows it. */
  turn?: TurnState;
  metadata: Record<string, unknown>;
}

export interface ThreadState {
  messages: readonly ChatMessage[];
  /** Whether a turn runs. */
  running: boolean;
  /** The open question. */
  question?: NativeInterrupt;
  /** Whether a stream is being attached again. */
  retrying: boolean;
  /** Checkpoints by the one that they follow. */
  branches: Record<string, readonly string[]>;
}

/** A message of this client, or a turn that it has attached to. */
interface Entry {
  key: string;
  text: string | undefined;
  turn: Turn;
}

const EMPTY: ThreadState = { messages: [], running: false, retrying: false, branches: {} };

/** A conversation: what it sends, and its state for a page. */
export class Thread {
  readonly id: string;
  private readonly http: Http;
  private kept: readonly ChatMessage[] = [];
  private entries: Entry[] = [];
  private branches: Record<string, readonly string[]> = {};
  private asked: NativeInterrupt | undefined;
  private state = EMPTY;
  private readonly listeners = new Set<() => void>();

  constructor(http: Http, id: string = newId()) {
    this.http = http;
    this.id = id;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): ThreadState => this.state;

  /** Reads the messages, up to a branch's head if one is named, and attaches to the turn that runs. */
  async load(options: { head?: string; limit?: number } = {}): Promise<ThreadState> {
    const history = await this.history(options);
    if (this.running()) return this.state; // it knows more than what was read
    this.entries = [];
    this.kept = history.messages.map(shown);
    this.branches = history.branches;
    this.asked = history.pending_interrupt ?? undefined;
    const active = history.active_turn;
    if (active && !this.asked) this.add(undefined, this.attachTo(active.turn_id));
    else this.update();
    return this.state;
  }

  /** One page of the stored messages; before pages back. */
  history(options: { head?: string; before?: string; limit?: number } = {}): Promise<History> {
    return this.http.json("GET", `/api/chat/history/${this.id}${query(options)}`);
  }

  /**
   * Sends a message. on_busy says what happens while another turn runs: "supersede" ends it,
   * "enqueue" waits for its end, "steer" gives the message to it, "reject" is an error. With
   * parent_checkpoint_id ("root" for the beginning) it begins another branch there.
   */
  send(message: string | Outgoing, options: SendOptions = {}): Turn {
    const body = { client_turn_id: newId(), ...(typeof message === "string" ? { message, ...options } : { ...message, ...options }), thread_id: this.id };
    const parent = body.parent_checkpoint_id;
    if (parent) this.cutAfter(parent);
    const turn = new Turn(this.http, { path: "/api/chat", init: withBody("POST", body), thread: this.id });
    return this.add(body.message, turn, body.client_turn_id ?? undefined);
  }

  /** Answers the open question: {type, value}, or {type: "tool_approval", decisions} with edited arguments where they are editable. */
  answer(value: Answer): Turn {
    const question = this.state.question;
    if (!question) throw new Error("No question is open.");
    this.asked = undefined;
    const before = this.entries.find((e) => e.turn.id === question.turn_id);
    const body: NativeResumeBody = { thread_id: this.id, interrupt_id: question.interrupt_id, resume_value: value };
    const turn = new Turn(this.http, { path: "/api/chat/resume", init: withBody("POST", body), thread: this.id, turn: question.turn_id, after: question.event_id }, before?.turn);
    void turn.done.catch(() => turn.id && !turn.snapshot().response && this.reopen(question, before, turn));
    if (!before) return this.add(undefined, turn);
    this.replace(before, turn);
    return turn;
  }

  /** Decides about the tool calls that wait: the same for all, or one decision each. */
  decide(decision: "approved" | "rejected" | DecisionBody[]): Turn {
    const calls = this.state.question?.tool_calls ?? [];
    return this.answer({ type: "tool_approval", decisions: typeof decision === "string" ? calls.map(({ id }) => ({ id, decision })) : decision });
  }

  /** Attaches to the turn that runs; undefined if none does. */
  async attach(): Promise<Turn | undefined> {
    const { active_turn: active } = await this.history({ limit: 1 });
    if (!active) return undefined;
    const known = this.entries.find((e) => e.turn.id === active.turn_id && e.turn.snapshot().status === "running");
    return known?.turn ?? this.add(undefined, this.attachTo(active.turn_id));
  }

  /** Stops the turn that runs, also one that the server has not received yet. */
  stop(): Promise<Cancel> {
    const last = this.entries.findLast((e) => ["sending", "running"].includes(e.turn.snapshot().status));
    const named = last?.turn.id ? { turn_id: last.turn.id } : last && last.text !== undefined ? { client_turn_id: last.key } : {};
    return this.http.json("POST", "/api/chat/cancel", { thread_id: this.id, ...named });
  }

  /** Ends following; turns go on. */
  detach(): void {
    for (const { turn } of this.entries) turn.detach();
  }

  private attachTo(turn: string): Turn {
    return new Turn(this.http, { path: `/api/chat/stream/${this.id}${query({ turn_id: turn })}`, init: {}, thread: this.id, turn });
  }

  private running(): boolean {
    return this.entries.some((e) => ["sending", "running"].includes(e.turn.snapshot().status));
  }

  private add(text: string | undefined, turn: Turn, key: string = newId()): Turn {
    this.entries = [...this.entries, { key, text, turn }];
    turn.subscribe(this.update);
    this.update();
    return turn;
  }

  private replace(entry: Entry, turn: Turn): void {
    this.entries = this.entries.map((e) => (e === entry ? { ...e, turn } : e));
    turn.subscribe(this.update);
    this.update();
  }

  /** Shows a question again whose answer was refused. */
  private reopen(question: NativeInterrupt, before: Entry | undefined, turn: Turn): void {
    this.entries = this.entries.flatMap((e) => (e.turn !== turn ? [e] : before ? [before] : []));
    if (!before) this.asked = question;
    this.update();
  }

  private cutAfter(parent: string): void {
    const all = this.state.messages;
    const at = all.findLastIndex((m) => m.checkpoint === parent);
    this.kept = all.slice(0, at + 1);
    this.entries = [];
  }

  private readonly update = (): void => {
    const turns = this.entries.map((e) => e.turn.snapshot());
    const question = turns.findLast((t) => t.question)?.question ?? this.asked;
    this.state = {
      messages: [...this.kept, ...this.entries.flatMap((e, i) => this.written(e, i))],
      running: turns.some((t) => t.status === "sending" || t.status === "running"),
      ...(question && { question }),
      retrying: turns.some((t) => t.retrying),
      branches: this.branches,
    };
    for (const listener of [...this.listeners]) listener();
  };

  private written(e: Entry, i: number): ChatMessage[] {
    const turn = e.turn.snapshot();
    const place = turn.response ? { checkpoint: turn.response.checkpoint_id } : {};
    const asked: ChatMessage[] = e.text === undefined ? [] : [{ id: `user:${e.key}`, role: "user", text: e.text, metadata: {} }];
    const steered = this.entries.slice(0, i).some((before) => before.turn.id !== undefined && before.turn.id === e.turn.id);
    if (steered) return asked; // the earlier message's answer is its answer
    return [...asked, { id: e.key, role: "assistant", text: turn.text, turn, ...place, metadata: { ...turn.response } }];
  }
}

const shown = (m: Message): ChatMessage => ({ id: m.id, role: m.role, text: m.content, checkpoint: m.checkpoint_id, metadata: m.metadata });
