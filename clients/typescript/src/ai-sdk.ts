import { DefaultChatTransport, type HttpChatTransportInitOptions, type UIMessage } from "ai";
import { ApiError, isTransient } from "./errors.ts";
import { ConnectionLost } from "./follow.ts";
import { Http, newId, type ClientOptions } from "./http.ts";
import { messages } from "./sse.ts";
import { onWake, pause } from "./wake.ts";
import { Watchdog } from "./watchdog.ts";

/** A transport for useChat of AI SDK 6 and 7. Its streams attach again by themselves. */
export class PalaverChatTransport<M extends UIMessage = UIMessage> extends DefaultChatTransport<M> {
  constructor({ baseUrl, token, fetch, backoff, retries, silence, ...rest }: ClientOptions & Omit<HttpChatTransportInitOptions<M>, "api" | "fetch"> = {}) {
    const options = { baseUrl, token, fetch, backoff, retries, silence };
    const http = new Http(Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined)));
    super({ ...rest, api: "/api/ui/chat", fetch: (input, init) => attached(http, String(input), init ?? {}) });
  }
}

/** A fetch for the transport: it retries until the server has accepted the request, and its body goes on after cuts. */
async function attached(http: Http, path: string, init: RequestInit): Promise<Response> {
  const signal = init.signal ?? new AbortController().signal;
  const sent = { ...init, ...(typeof init.body === "string" && { body: withTurnId(init.body) }) };
  for (let failures = 0; ; failures++) {
    const watch = new Watchdog(http.silence, signal);
    try {
      const res = await http.raw(path, { ...sent, signal: watch.signal });
      if (res.ok && res.body) return new Response(whole(http, path, sent, { body: res.body, watch }, signal), { status: res.status, headers: res.headers });
      watch.end();
      if (!isTransient(res.status) || failures >= http.retries) return res;
    } catch (err) {
      watch.end();
      if (signal.aborted || failures >= http.retries) throw err;
    }
    await pause(http.backoff[Math.min(failures, http.backoff.length - 1)] ?? 0, signal);
  }
}

interface Opened {
  body: ReadableStream<Uint8Array>;
  watch: Watchdog;
}

/** A retried message joins its turn by this id. */
function withTurnId(body: string): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  return JSON.stringify({ client_turn_id: newId(), ...fields });
}

const DONE = "[DONE]";

/** The bytes of a stream and, after a cut, the rest of its replay. */
function whole(http: Http, path: string, init: RequestInit, first: Opened, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunks = chunksOf(http, path, init, first, signal);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(`data: ${value}\n\n`));
      } catch (err) {
        controller.error(err);
      }
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

async function* chunksOf(http: Http, path: string, init: RequestInit, first: Opened, signal: AbortSignal): AsyncGenerator<string, void> {
  const shown = new Shown();
  for (let failures = 0, opened: Opened | undefined = first; ; failures++) {
    const watch: Watchdog = opened?.watch ?? new Watchdog(http.silence, signal);
    const awake = onWake(() => watch.check(), () => watch.giveUp());
    try {
      const body = opened?.body ?? (await again(http, path, init, watch));
      for await (const { data } of messages(body, watch)) {
        if (data === DONE) return yield DONE;
        const rest = shown.rest(JSON.parse(data) as Chunk);
        if (rest.length > 0) failures = 0;
        for (const chunk of rest) yield JSON.stringify(chunk);
      }
    } catch (err) {
      if (signal.aborted || failures >= http.retries || (err instanceof ApiError && !err.transient) || err instanceof ConnectionLost) throw err;
    } finally {
      awake();
      watch.end();
    }
    opened = undefined;
    shown.replay();
    await pause(http.backoff[Math.min(failures, http.backoff.length - 1)] ?? 0, signal);
  }
}

/** The replay of a turn: the same message again, or, for an answer that the server has, the turn that runs. */
async function again(http: Http, path: string, init: RequestInit, watch: Watchdog): Promise<ReadableStream<Uint8Array>> {
  const { signal } = watch;
  try {
    return bodyOf(await http.request(path, { ...init, signal }));
  } catch (err) {
    if (!(err instanceof ApiError) || err.code !== "no_pending_interrupt") throw err;
    const { id } = JSON.parse(init.body as string) as { id: string };
    return bodyOf(await http.request(`/api/ui/chat/${encodeURIComponent(id)}/stream`, { signal }));
  }
}

/** The turn of a stream without a body has ended meanwhile: its messages must be read. */
function bodyOf(res: Response): ReadableStream<Uint8Array> {
  if (res.status === 204 || !res.body) throw new ConnectionLost(undefined);
  return res.body;
}

interface Chunk {
  type: string;
  id?: string;
  delta?: string;
  transient?: boolean;
}

/** What of a message was shown, so that its replay adds only the rest. A replay may split texts elsewhere. */
class Shown {
  private readonly counts = new Map<string, number>();
  private readonly texts = new Map<string, string>();
  private seen = new Map<string, number>();
  private read = new Map<string, string>();

  /** To be called before a replay. */
  replay(): void {
    this.seen = new Map();
    this.read = new Map();
  }

  /** The chunks that a chunk adds to what was shown. */
  rest(chunk: Chunk): Chunk[] {
    if (chunk.transient) return [chunk];
    if (chunk.delta !== undefined) return this.text(chunk, chunk.delta);
    const key = chunk.type === "start" ? chunk.type : JSON.stringify(chunk); // a replay has another time
    const nth = (this.seen.get(key) ?? 0) + 1;
    this.seen.set(key, nth);
    if (nth <= (this.counts.get(key) ?? 0)) return [];
    this.counts.set(key, nth);
    return [chunk];
  }

  /** A replay with other words than were shown, because the server began the text anew, cannot be joined. */
  private text(chunk: Chunk, delta: string): Chunk[] {
    const key = `${chunk.type} ${chunk.id}`;
    const had = this.texts.get(key) ?? "";
    const now = (this.read.get(key) ?? "") + delta;
    this.read.set(key, now);
    if (now.length <= had.length && had.startsWith(now)) return [];
    if (!now.startsWith(had)) throw new ConnectionLost(undefined);
    this.texts.set(key, now);
    return [{ ...chunk, delta: now.slice(had.length) }];
  }
}
