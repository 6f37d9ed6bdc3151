import { ApiError, errorOf, fromPage } from "../api/http";
import { currentSpace, forSpace, inSpace, noteStatus } from "../api/space";
import { SILENCE_MS, Watchdog } from "../../../clients/typescript/src/watchdog";
import { authorized, withToken } from "../session/token";
import { words } from "../words";

/** Delays between retries, in ms. After the last one the user decides. */
export const BACKOFF_MS = [400, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000];

/** The connection broke or failed to open. Its turn continues on the server. */
export class ConnectionLost extends Error {
  constructor(
    message: string,
    /** Whether the server had responded, so that it has the request. */
    readonly answered: boolean,
  ) {
    super(message);
    this.name = "ConnectionLost";
  }
}

export interface Hooks {
  /** Called when an attempt failed and a retry follows, with the reason; called with "" when the server responds again. */
  onRetrying(why: string): void;
  /** Called when the server has accepted the request. */
  onAnswer(res: Response): void;
}

/**
 * A fetch for event streams that retries the same request while the server is
 * unreachable. A retried message joins its turn by client_turn_id. A stream that
 * goes silent, or ends without [DONE], fails with ConnectionLost instead of
 * looking like a short answer. A rejected request throws an ApiError.
 */
export class Connection {
  private wake: (() => void) | undefined;
  private readonly space = currentSpace(); // of the thread

  constructor(
    private readonly hooks: Hooks,
    private readonly backoff: readonly number[] = BACKOFF_MS,
    private readonly silence = SILENCE_MS,
  ) {}

  /** Ends a retry delay, e.g. when the network is back. */
  retryNow(): void {
    this.wake?.();
  }

  readonly fetch = async (input: string, init?: RequestInit): Promise<Response> => {
    const outer = init?.signal ?? undefined;
    const headers = inSpace(input, forSpace(this.space, fromPage(init?.headers)));
    for (let tries = 0; ; tries++) {
      const quiet = new Watchdog(this.silence, outer);
      let why: string;
      try {
        const res = await authorized((token) => fetch(input, { ...init, headers: withToken(headers, token), signal: quiet.signal }));
        if (res.ok) {
          this.hooks.onRetrying("");
          this.hooks.onAnswer(res);
          if (res.status === 204 || !res.body) {
            quiet.end();
            return res;
          }
          return new Response(watched(res.body, quiet), { status: res.status, headers: res.headers });
        }
        quiet.end();
        noteStatus(res.status, headers);
        const refusal = await errorOf(res);
        if (!refusal.transient) {
          this.hooks.onRetrying("");
          throw refusal;
        }
        why = refusal.message;
      } catch (err) {
        quiet.end();
        if ((err instanceof ApiError && !err.transient) || outer?.aborted) throw err; // a failed token refresh is transient, so it is retried
        why = quiet.silent ? words.problems.noAnswer : words.problems.unreachable;
      }
      const wait = this.backoff[tries];
      if (wait === undefined) throw new ConnectionLost(why, false);
      this.hooks.onRetrying(why);
      await this.pause(wait, outer);
    }
  };

  /** Waits for ms. retryNow ends it early; an abort rejects it. */
  pause(ms: number, signal?: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.wake = undefined;
        if (signal?.aborted) reject(new DOMException("The request was aborted.", "AbortError"));
        else resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done);
      this.wake = done;
    });
  }
}

/** Returns the error that the reader of a broken body gets. */
function explain(err: unknown, quiet: Watchdog): unknown {
  if (quiet.abortedByCaller) return err;
  return new ConnectionLost(quiet.silent ? words.problems.silent : words.problems.cut, true);
}

const DONE = "data: [DONE]";

/** Fails a body that goes silent or ends without [DONE]. */
function watched(body: ReadableStream<Uint8Array>, quiet: Watchdog): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let tail = "";
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          quiet.touch();
          tail = (tail + decoder.decode(value, { stream: true })).slice(-64);
          controller.enqueue(value);
          return;
        }
        quiet.end();
        if (tail.includes(DONE)) controller.close();
        else controller.error(new ConnectionLost(words.problems.cut, true));
      } catch (err) {
        quiet.end();
        controller.error(explain(err, quiet));
      }
    },
    async cancel(reason) {
      quiet.end();
      await reader.cancel(reason).catch(() => undefined);
    },
  });
}
