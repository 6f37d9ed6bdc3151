import { ApiError, request } from "./http";
import { SSEParser } from "./sse";
import type { TurnEvent } from "./types";

/** The server pings every 15 s, so this much silence means a dead connection. */
export const SILENCE_MS = 30_000;

export interface EventStream {
  turnId: string | null;
  events: AsyncGenerator<TurnEvent>;
}

/**
 * Opens an event stream. Null is 204: nothing to follow. Rejects with an
 * ApiError; a connection silent for silenceMs, before or after its headers,
 * ends with ApiError code "silent".
 */
export async function openStream(path: string, init: RequestInit, signal: AbortSignal, silenceMs = SILENCE_MS): Promise<EventStream | null> {
  const watch = new Watchdog(signal, silenceMs);
  try {
    const res = await request(path, { ...init, signal: watch.signal });
    if (res.status === 204 || !res.body) {
      watch.done();
      return null;
    }
    return { turnId: res.headers.get("X-Turn-Id"), events: read(res.body, watch) };
  } catch (err) {
    watch.done();
    throw watch.explain(err);
  }
}

async function* read(body: ReadableStream<Uint8Array>, watch: Watchdog): AsyncGenerator<TurnEvent> {
  const parser = new SSEParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.touch();
      for (const message of parser.push(decoder.decode(value, { stream: true }))) {
        const event = decode(message.data);
        if (!event) continue;
        if (!event.event_id && message.id) event.event_id = message.id;
        yield event;
      }
    }
  } catch (err) {
    throw watch.explain(err);
  } finally {
    watch.done();
    await reader.cancel().catch(() => undefined);
  }
}

/** Anything that is not an object with a type is skipped, so that a newer server cannot break the page. */
export function decode(data: string): TurnEvent | null {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string") return value as TurnEvent;
  } catch {
    // Not JSON, for instance [DONE].
  }
  return null;
}

class Watchdog {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private silent = false;
  private readonly forward = () => this.controller.abort();

  constructor(
    private readonly outer: AbortSignal,
    private readonly ms: number,
  ) {
    if (outer.aborted) this.controller.abort();
    outer.addEventListener("abort", this.forward);
    this.touch();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  touch(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.silent = true;
      this.controller.abort();
    }, this.ms);
  }

  done(): void {
    clearTimeout(this.timer);
    this.outer.removeEventListener("abort", this.forward);
  }

  explain(err: unknown): unknown {
    if (this.silent) return new ApiError(0, "silent", "Nothing was heard from the server for 30 seconds.");
    if (err instanceof ApiError || this.outer.aborted) return err;
    return new ApiError(0, "cut", "The connection was lost.");
  }
}
