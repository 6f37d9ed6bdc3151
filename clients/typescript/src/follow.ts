import { ApiError } from "./errors.ts";
import { query, type Http } from "./http.ts";
import type { NativeEvent } from "./openapi.ts";
import { messages } from "./sse.ts";
import { onWake, pause } from "./wake.ts";
import { Watchdog } from "./watchdog.ts";

/** An event of a turn, as docs/contract.md has it. */
export type TurnEvent = NativeEvent;

/** A stream that was given up: too many tries in a row failed. The turn goes on. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super("The connection was lost. The answer goes on; attach again to see it.", { cause });
    this.name = "ConnectionLost";
  }
}

export interface Start {
  path: string;
  init: RequestInit;
  thread: string;
  /** The turn, if it is known. */
  turn?: string | undefined;
  /** The last event that its caller has. */
  after?: string | undefined;
}

export interface Hooks {
  /** The server has accepted the request, or responds again. */
  onOpen(turn: string | undefined): void;
  /** The stream broke; a retry follows. */
  onRetry(why: unknown): void;
}

const ENDS = new Set(["response", "interrupt", "cancelled", "error"]);

/** Whether a turn has ended with this event, or waits for an answer. */
export const isEnd = (e: TurnEvent): boolean => ENDS.has(e.type);

/**
 * The events of a turn, each once and in order, up to the one with which it ends or asks.
 * A stream that breaks or goes silent is attached again after the last event.
 */
export async function* follow(http: Http, start: Start, signal: AbortSignal, hooks: Hooks): AsyncGenerator<TurnEvent, void> {
  let { path, init, turn, after } = start;
  for (let failures = 0; ; failures++) {
    const watch = new Watchdog(http.silence, signal);
    const asleep = onWake(() => watch.check(), () => watch.giveUp());
    let why: unknown;
    let wait = 0;
    try {
      const res = await http.request(path, { ...init, signal: watch.signal });
      if (res.status === 204 || !res.body) return; // nothing is left
      turn = res.headers.get("X-Turn-Id") ?? turn;
      hooks.onOpen(turn);
      for await (const event of read(res.body, watch)) {
        if (isExpiry(event)) break;
        failures = 0;
        after = event.event_id ?? after;
        yield event;
        if (isEnd(event)) return;
      }
    } catch (err) {
      if (signal.aborted) throw signal.reason;
      why = err;
      wait = checked(err, init.method === "POST" ? failures : undefined);
    } finally {
      asleep();
      watch.end();
    }
    if (failures >= http.retries) throw new ConnectionLost(why);
    hooks.onRetry(why);
    if (turn) {
      path = `/api/chat/stream/${start.thread}${query({ turn_id: turn })}`;
      init = after ? { headers: { "Last-Event-ID": after } } : {};
    }
    await pause(Math.max(wait, http.backoff[Math.min(failures, http.backoff.length - 1)] ?? 0), signal);
  }
}

/** A credential that has expired ends a stream, not its turn. */
const isExpiry = (e: TurnEvent): boolean => e.type === "error" && !e.event_id && e.code === "unauthenticated";

/**
 * Throws an error that a retry does not remove; else returns how long to wait, in ms. posts
 * is how many tries of a POST have failed before; undefined for other requests.
 */
function checked(err: unknown, posts: number | undefined): number {
  if (!(err instanceof ApiError) || err.transient) return err instanceof ApiError ? err.retryAfter * 1000 : 0;
  if (err.status === 429 && posts === undefined) return err.retryAfter * 1000;
  if (err.code === "no_pending_interrupt" && posts) return 0; // an earlier try has answered it
  throw err;
}

async function* read(body: ReadableStream<Uint8Array>, watch: Watchdog): AsyncGenerator<TurnEvent> {
  for await (const { data, id } of messages(body, watch)) {
    const event = decode(data);
    if (!event) continue;
    if (!event.event_id && id) event.event_id = id;
    yield event;
  }
}

/** Skips what is not an object with a type, so that a newer server cannot break the client. */
function decode(data: string): TurnEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof (value as { type?: unknown } | null)?.type === "string") return value as TurnEvent;
  } catch {
    // Not JSON.
  }
  return undefined;
}
