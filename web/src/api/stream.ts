import { words } from "../words";
import { ApiError, request } from "./http";
import { messages } from "../../../clients/typescript/src/sse";
import type { TurnEvent } from "./types";
import { SILENCE_MS, Watchdog } from "../../../clients/typescript/src/watchdog";

export type EventStream = AsyncGenerator<TurnEvent>;

/**
 * Opens an event stream; null for a 204, which means that there is no event to wait for. Rejects
 * with an ApiError, with the code "silent" when no byte arrives for silenceMs.
 */
export async function openStream(path: string, init: RequestInit, signal: AbortSignal, silenceMs = SILENCE_MS): Promise<EventStream | null> {
  const watch = new Watchdog(silenceMs, signal);
  try {
    const res = await request(path, { ...init, signal: watch.signal });
    if (res.status === 204 || !res.body) {
      watch.end();
      return null;
    }
    return read(res.body, watch);
  } catch (err) {
    watch.end();
    throw explain(err, watch);
  }
}

async function* read(body: ReadableStream<Uint8Array>, watch: Watchdog): AsyncGenerator<TurnEvent> {
  try {
    for await (const { data, id } of messages(body, watch)) {
      const event = decode(data);
      if (!event) continue;
      if (!event.event_id && id) event.event_id = id;
      yield event;
    }
  } catch (err) {
    throw explain(err, watch);
  } finally {
    watch.end();
  }
}

/** Skips what is not an object with a type, so that a newer server cannot break the page. */
export function decode(data: string): TurnEvent | null {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string") return value as TurnEvent;
  } catch {
    // Not JSON, for instance [DONE].
  }
  return null;
}

function explain(err: unknown, watch: Watchdog): unknown {
  if (watch.silent) return new ApiError(0, "silent", words.problems.silent);
  if (err instanceof ApiError || watch.abortedByCaller) return err;
  return new ApiError(0, "cut", words.problems.cut);
}
