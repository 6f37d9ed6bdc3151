import { openStream, type EventStream } from "../api/stream";
import { ApiError } from "../api/http";
import { BACKOFF_MS } from "./connection";

type Open = (path: string, signal: AbortSignal) => Promise<EventStream | null>;

/**
 * Watches a thread in which this page runs nothing, for turns and answers from
 * another tab or client. It reports the first change, then it ends.
 */
export class Watch {
  private controller: AbortController | undefined;

  constructor(
    private readonly thread: string,
    private readonly changed: () => void,
    private readonly open: Open = (path, signal) => openStream(path, {}, signal),
    private readonly backoff: readonly number[] = BACKOFF_MS,
  ) {}

  /** asked is the id of the open question: the stream first replays its turn up to it. onConnect is called on every connect, so that no change in between is missed. */
  start(asked: string | undefined, onConnect: () => void): void {
    this.stop();
    this.controller = new AbortController();
    void this.run(this.controller.signal, asked, onConnect);
  }

  stop(): void {
    this.controller?.abort();
    this.controller = undefined;
  }

  /** Ends after a change, or when the server permanently rejects the request. It retries after other errors. */
  private async run(signal: AbortSignal, asked: string | undefined, onConnect: () => void): Promise<void> {
    for (let tries = 0; !signal.aborted; ) {
      let wait = 0;
      try {
        const stream = await this.open(`/api/chat/stream/${encodeURIComponent(this.thread)}?follow=thread&stream_tokens=false`, signal);
        if (signal.aborted || !stream) return;
        onConnect();
        let replayed = asked === undefined;
        for await (const event of stream) {
          if (signal.aborted) return;
          tries = 0;
          if (replayed) return this.changed();
          replayed = event.type === "interrupt" && event.interrupt_id === asked;
        }
      } catch (err) {
        if (signal.aborted) return;
        if (err instanceof ApiError) {
          if (isPermanent(err.status)) return;
          wait = err.retryAfter * 1000;
        }
      }
      await sleep(Math.max(wait, this.backoff[Math.min(tries++, this.backoff.length - 1)] ?? 0), signal);
    }
  }
}

/** A 4xx is permanent, except 408 (timeout) and 429 (rate limit). */
const isPermanent = (status: number): boolean => status >= 400 && status < 500 && status !== 408 && status !== 429;

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
