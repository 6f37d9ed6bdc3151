import * as client from "../api/client";
import { ApiError } from "../api/http";
import type { EventStream } from "../api/stream";
import type { History, Interrupt, ResumeBody, SubmitBody, TurnEvent } from "../api/types";
import type { Change } from "./thread";

export interface Api {
  submit(body: SubmitBody, signal: AbortSignal): Promise<EventStream | null>;
  resume(body: ResumeBody, signal: AbortSignal): Promise<EventStream | null>;
  attach(threadId: string, turnId: string, after: string | undefined, signal: AbortSignal): Promise<EventStream | null>;
  history(threadId: string, signal?: AbortSignal): Promise<History>;
}

type Open = (signal: AbortSignal) => Promise<EventStream | null>;

/** Waits between tries to reach a stream again, in ms; after the last one a person decides. */
export const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/** Resolves once the browser has had the time to draw; a page in the background draws nothing and does not wait for it. */
function drawn(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 50);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve);
    });
  });
}

const terminal = (e: TurnEvent): boolean => e.type === "response" || e.type === "cancelled" || e.type === "error";

/**
 * Follows one thread's open turn and reports what happens as changes.
 *
 *   submit, resume ──> stream ──> terminal event: done
 *        ^                ├─────> interrupt: keep watching, it may be answered elsewhere
 *        │                └─────> cut: wait, re-attach after the last event seen
 *   one stream at a time; starting another closes the one before
 */
export class Runner {
  private controller: AbortController | null = null;
  private wake: (() => void) | null = null;

  constructor(
    private readonly dispatch: (c: Change) => void,
    private readonly api: Api = client,
    private readonly backoff: readonly number[] = BACKOFF_MS,
    private readonly shown: () => Promise<void> = drawn,
  ) {}

  /** Lets go of the stream; the turn goes on without us. */
  detach(): void {
    this.controller?.abort();
    this.controller = null;
  }

  /** Ends a wait between tries early: the network is back. */
  hurry(): void {
    this.wake?.();
  }

  async load(threadId: string): Promise<void> {
    const signal = this.begin();
    try {
      const history = await this.api.history(threadId, signal);
      if (signal.aborted) return;
      this.dispatch({ type: "loaded", history });
      const turnId = history.active_turn?.turn_id ?? history.pending_interrupt?.turn_id;
      if (turnId) await this.follow(signal, threadId, new Cursor(turnId, history.pending_interrupt?.interrupt_id));
    } catch (err) {
      if (signal.aborted) return;
      if (err instanceof ApiError && (err.status === 404 || err.status === 400)) this.dispatch({ type: "missing" });
      else this.dispatch({ type: "lost", problem: { message: wordsOf(err), retry: "reload" } });
    }
  }

  /** Sends a message. The same body sent again joins the turn that it made. */
  async submit(body: SubmitBody): Promise<void> {
    const signal = this.begin();
    await this.follow(signal, body.thread_id, new Cursor(), (s) => this.api.submit(body, s));
  }

  /** Answers an interrupt. When the connection fails before the server answered, the history tells whether it was taken. */
  async resume(body: ResumeBody, interrupt: Interrupt): Promise<void> {
    const signal = this.begin();
    let stream: EventStream | null;
    try {
      stream = await this.api.resume(body, signal);
    } catch (err) {
      if (signal.aborted) return;
      if (err instanceof ApiError && err.code === "invalid_resume_value") {
        this.dispatch({ type: "refused", interrupt, problem: { message: err.message } });
        if (interrupt.turn_id) await this.follow(signal, body.thread_id, new Cursor(interrupt.turn_id, interrupt.interrupt_id));
        return;
      }
      return this.load(body.thread_id);
    }
    if (signal.aborted) return;
    await this.follow(signal, body.thread_id, new Cursor(interrupt.turn_id), () => Promise.resolve(stream));
  }

  private begin(): AbortSignal {
    this.detach();
    this.controller = new AbortController();
    return this.controller.signal;
  }

  private async follow(signal: AbortSignal, threadId: string, cursor: Cursor, first?: Open): Promise<void> {
    const again: Open = (s) => (cursor.turnId ? this.api.attach(threadId, cursor.turnId, cursor.lastEventId, s) : first!(s));
    let open = first ?? again;
    for (let tries = 0; ; ) {
      let why = "The connection was lost.";
      try {
        const stream = await open(signal);
        if (signal.aborted) return;
        if (!stream) return this.load(threadId); // nothing left to follow: the history has the outcome
        if (stream.turnId) cursor.turnId = stream.turnId;
        this.dispatch({ type: "opened", turnId: stream.turnId });
        let asked = false;
        for await (const event of stream.events) {
          if (signal.aborted) return;
          tries = 0;
          asked = event.type === "interrupt";
          if (cursor.skips(event)) continue;
          this.dispatch({ type: "event", event });
          if (terminal(event)) return;
          // A whole turn may arrive at once; its statuses are to be seen all the same.
          if (event.type === "status") await this.shown();
        }
        open = again;
        if (asked) continue; // a POST's stream ends with its question
      } catch (err) {
        if (signal.aborted) return;
        if (!(err instanceof ApiError) || !err.transient) return this.refuse(err, threadId, cursor);
        why = err.message;
        open = again;
      }
      const wait = this.backoff[tries++];
      if (wait === undefined) {
        const message = "The connection could not be restored. Nothing is lost: the server goes on with your question.";
        const unsent = "Your message could not be sent: the server cannot be reached.";
        return this.dispatch({ type: "lost", problem: cursor.turnId ? { message, retry: "reload" } : { message: unsent, retry: "same" } });
      }
      this.dispatch({ type: "cut", why });
      await this.pause(wait, signal);
      if (signal.aborted) return;
    }
  }

  private refuse(err: unknown, threadId: string, cursor: Cursor): void | Promise<void> {
    if (cursor.turnId && err instanceof ApiError && err.status === 404) return this.load(threadId);
    const hopeless = err instanceof ApiError && err.status < 500 && err.status !== 429;
    const retry = cursor.turnId ? "reload" : "same";
    this.dispatch({ type: "refused", problem: { message: wordsOf(err), ...(!hopeless && { retry }) } });
  }

  private pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.wake = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener("abort", done);
      this.wake = done;
    });
  }
}

/** Where a turn's stream has been read to. */
class Cursor {
  lastEventId: string | undefined;

  /** With until, a replay passes unseen up to that interrupt, which the history has shown already. */
  constructor(
    public turnId?: string,
    private until?: string,
  ) {}

  skips(event: TurnEvent): boolean {
    if (event.event_id) this.lastEventId = event.event_id;
    if (!this.until) return false;
    if (terminal(event)) {
      this.until = undefined;
      return false;
    }
    if (event.type === "interrupt" && event.interrupt_id === this.until) this.until = undefined;
    return true;
  }
}

const wordsOf = (err: unknown): string => (err instanceof ApiError ? err.message : "Something went wrong in this page. Please try again.");
