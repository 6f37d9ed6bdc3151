import { ApiError } from "./errors.ts";
import { follow, type Start, type TurnEvent } from "./follow.ts";
import type { Http } from "./http.ts";
import type { NativeInterrupt, NativeNotice, NativeResponse } from "./openapi.ts";

export interface ToolUse {
  id: string;
  name: string;
  arguments: unknown;
  /** Undefined until it has ended. */
  result?: string;
  failed?: boolean;
}

/** What is known of a turn. */
export interface TurnState {
  status: "sending" | "running" | "asking" | "done" | "stopped" | "failed";
  /** The answer so far. */
  text: string;
  /** What the server does now, for people. */
  activity: string;
  /** What the model thinks now. */
  thinking: string;
  tools: readonly ToolUse[];
  notices: readonly NativeNotice[];
  /** The open question. */
  question?: NativeInterrupt;
  response?: NativeResponse;
  /** Why it was stopped or failed, for people. */
  problem?: string;
  /** Whether the stream is being attached again. */
  retrying: boolean;
}

const BEGIN: TurnState = { status: "sending", text: "", activity: "", thinking: "", tools: [], notices: [], retrying: false };

/** One turn: its events as an async iterator, from the first one, and as a state. It is followed until it ends, asks, or is detached. */
export class Turn implements AsyncIterable<TurnEvent> {
  /** The id of the turn, once the server has accepted it. */
  id: string | undefined;
  /** Resolves with the state when the turn has ended or asks; rejects when it was not accepted, or when its stream was given up. */
  readonly done: Promise<TurnState>;
  /** Resolves when the server has accepted the request, rejects when it refused it. */
  readonly accepted: Promise<void>;
  private readonly events: TurnEvent[] = [];
  private state: TurnState = BEGIN;
  private readonly listeners = new Set<() => void>();
  private readonly controller = new AbortController();
  private ended = false;
  private failure: unknown;
  /** The length of the text before the piece that is being written. */
  private settled = 0;

  constructor(http: Http, start: Start, before?: Turn) {
    this.id = start.turn;
    if (before) {
      const { question: _, ...kept } = before.state;
      this.state = { ...kept, status: "running" };
      this.settled = kept.text.length;
    }
    let accept: () => void;
    let refuse: (err: unknown) => void;
    this.accepted = new Promise<void>((resolve, reject) => ((accept = resolve), (refuse = reject)));
    this.accepted.catch(() => undefined);
    this.done = this.run(http, start, () => accept()).catch((err: unknown) => {
      refuse(err);
      throw err;
    });
    this.done.catch(() => undefined);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly snapshot = (): TurnState => this.state;

  /** Ends following it; the turn goes on. */
  detach(): void {
    this.controller.abort(new ApiError(0, "detached", "The turn is no longer followed."));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TurnEvent, void> {
    for (let i = 0; ; i++) {
      while (i >= this.events.length && !this.ended) await this.change();
      const event = this.events[i];
      if (!event) break;
      yield event;
    }
    if (this.failure) throw this.failure;
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.subscribe(() => (stop(), resolve()));
    });
  }

  private async run(http: Http, start: Start, accepted: () => void): Promise<TurnState> {
    try {
      const hooks = {
        onOpen: (turn: string | undefined) => {
          this.id = turn;
          accepted();
          this.set({ retrying: false, ...(this.state.status === "sending" && { status: "running" }) });
        },
        onRetry: () => this.set({ retrying: true }),
      };
      for await (const event of follow(http, start, this.controller.signal, hooks)) {
        this.events.push(event);
        this.apply(event);
      }
      if (this.state.status === "sending" || this.state.status === "running") this.set({ status: "done" }); // nothing was left to read
      accepted();
      return this.state;
    } catch (err) {
      this.failure = err;
      throw err;
    } finally {
      this.ended = true;
      this.set(this.failure ? { retrying: false, status: "failed", problem: this.failure instanceof Error ? this.failure.message : String(this.failure) } : { retrying: false });
    }
  }

  private apply(e: TurnEvent): void {
    const { text, thinking, tools, notices } = this.state;
    switch (e.type) {
      case "status":
        return this.set({ activity: e.message });
      case "token":
        return this.set({ text: text + e.content, thinking: "" });
      case "thought":
        return this.set({ thinking: [...thinking].slice(0, e.offset).join("") + e.content });
      case "reasoning":
        return this.set({ thinking: "" });
      case "tool_call":
        this.settled = text.length;
        return this.set({ tools: [...tools.filter((t) => t.id !== e.id), { id: e.id, name: e.name, arguments: e.arguments }] });
      case "tool_result":
        return this.set({ tools: tools.map((t) => (t.id === e.tool_call_id ? { ...t, result: e.content, failed: e.is_error } : t)) });
      case "notice":
        return this.set({ notices: [...notices, e], ...(e.code === "restarted" && { text: text.slice(0, this.settled) }) });
      case "interrupt":
        return this.set({ status: "asking", question: e, activity: "" });
      case "response":
        return this.set({ status: "done", text: e.response, response: e, activity: "", thinking: "" });
      case "cancelled":
        return this.set({ status: "stopped", text: e.partial, problem: e.reason, activity: "", thinking: "" });
      case "error":
        return this.set({ status: "failed", text: e.partial ?? text, problem: e.message, activity: "", thinking: "" });
    }
  }

  private set(change: Partial<TurnState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of [...this.listeners]) listener();
  }
}
