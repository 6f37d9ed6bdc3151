import type { Outgoing } from "../composer/types";

// A fake server for store tests. It sends the answers that a test has set.

export const THREAD = "7b1f6f0e-2f0c-4a53-9a39-6b5d3c2c1f11";
export const out = (text: string, over: Partial<Outgoing> = {}): Outgoing => ({ text, tiptap: {}, taggedDocIds: [], taggedSetIds: [], webSearch: false, attachments: [], onBusy: "supersede", ...over });

type Chunk = Record<string, unknown>;
export const start = (turn: string): Chunk[] => [{ type: "start", messageId: turn, messageMetadata: { turn_id: turn } }, { type: "start-step" }];
export const say = (text: string): Chunk[] => [
  { type: "text-start", id: "text-1" },
  { type: "text-delta", id: "text-1", delta: text },
  { type: "text-end", id: "text-1" },
];
export const end = (meta: Chunk = { finished_reason: "stop" }, reason = "stop"): Chunk[] => [{ type: "message-metadata", messageMetadata: meta }, { type: "finish-step" }, { type: "finish", finishReason: reason }];
export const question = { interrupt_id: "t1.q1", interrupt_type: "action_choice", message: "Which?", options: [{ id: "audit", label: "Audit" }], turn_id: "t1", answered: false };
export const ask: Chunk[] = [{ type: "data-interrupt", id: "t1.q1", data: question }, ...end({ finished_reason: "interrupted" }, "other")];

/** A response, sent at once or after a promise: a complete stream, one that breaks, one that the test ends, or an error. */
type Answer = ({ chunks: Chunk[]; then?: "done" | "cut" | "wait" } | { status: number; body?: unknown; headers?: Record<string, string> }) & { after?: Promise<void> } | "down";

interface Call {
  what: string;
  url: string;
  body: Record<string, unknown>;
}

/** Answers requests of each kind in the order of on(). */
export class Server {
  calls: Call[] = [];
  answers: Record<string, Answer[]> = {};
  finish: (() => void)[] = [];
  /** Whether a watch connects; the store then compares its messages with state. */
  watched = false;
  watches = 0;
  list: unknown[] = [];
  state: Record<string, unknown> = { messages: [], active_turn: null, branches: {} };

  on(what: string, ...answers: Answer[]) {
    (this.answers[what] ??= []).push(...answers);
    return this;
  }

  readonly fetch = async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = String(input);
    const method = init.method ?? "GET";
    const what = url.includes("/api/chat/stream/")
      ? "watch"
      : url.includes("/api/chat/history/")
        ? "state"
        : url.includes("/api/chat/cancel")
          ? "cancel"
          : method === "POST"
            ? "post"
            : url.endsWith("/stream")
              ? "attach"
              : "list";
    const body = init.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : {};
    if (what !== "watch") this.calls.push({ what, url, body });
    const given = this.answers[what]?.shift();
    if (!given) {
      if (what === "state") return Response.json(this.state);
      if (what === "list") return Response.json({ messages: this.list });
      if (what === "cancel") return Response.json({ status: "cancelling" }, { status: 202 });
      if (what === "watch") {
        const aborted = new Promise<never>((_, reject) => init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))));
        if (!this.watched) return aborted;
        aborted.catch(() => {});
        this.watches++;
        await new Promise((resolve) => setTimeout(resolve)); // like a network: endless requests must not block the test
        return new Response(new ReadableStream({ start: (c) => void aborted.catch((err: unknown) => c.error(err)) }));
      }
      throw new Error(`unexpected request: ${what}`);
    }
    if (given === "down") throw new TypeError("Failed to fetch");
    if (given.after) await Promise.race([given.after, new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))))]);
    if ("status" in given) return new Response(given.status === 204 ? null : JSON.stringify(given.body ?? {}), { status: given.status, headers: given.headers ?? {} });
    const encoder = new TextEncoder();
    const { chunks, then = "done" } = given;
    const stream = new ReadableStream<Uint8Array>({
      start: (c) => {
        init.signal?.addEventListener("abort", () => {
          try {
            c.error(new DOMException("aborted", "AbortError"));
          } catch {
            // The stream has already ended.
          }
        });
        for (const chunk of chunks) c.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
        const done = () => {
          c.enqueue(encoder.encode("data: [DONE]\n\n"));
          c.close();
        };
        if (then === "done") done();
        else if (then === "cut") c.close();
        else this.finish.push(done);
      },
    });
    return new Response(stream, { headers: { "X-Turn-Id": "t1" } });
  };

  posts() {
    return this.calls.filter((c) => c.what === "post").map((c) => c.body);
  }
}

/** The part of Storage that the page uses. */
export class MemoryStorage {
  private readonly values = new Map<string, string>();
  getItem = (key: string) => this.values.get(key) ?? null;
  setItem = (key: string, value: string) => void this.values.set(key, value);
  removeItem = (key: string) => void this.values.delete(key);
}
