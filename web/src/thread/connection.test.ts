import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/http";
import { Connection, ConnectionLost } from "./connection";

const encoder = new TextEncoder();
let feed: ReadableStreamDefaultController<Uint8Array>;
type Answer = "hang" | "down" | (() => Response);

/** Stubs fetch with answers in order. An abort fails as in a browser. */
function serve(...answers: Answer[]) {
  const calls: unknown[] = [];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    calls.push(init.body);
    const answer = answers.shift() ?? "down";
    if (answer === "down") return Promise.reject(new TypeError("Failed to fetch"));
    if (answer !== "hang") return Promise.resolve(answer());
    return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))));
  });
  return calls;
}

const open = (signal?: AbortSignal) => () => {
  const body = new ReadableStream<Uint8Array>({ start: (c) => void (feed = c) });
  signal?.addEventListener("abort", () => feed.error(new DOMException("aborted", "AbortError")));
  return new Response(body, { headers: { "X-Turn-Id": "t1" } });
};
const refuse = (status: number, code: string, headers: Record<string, string> = {}) => () => Response.json({ error: { code, message: `It is ${code}.` } }, { status, headers });

let problems: string[];
let answers: number[];
const make = (backoff: number[] = [1, 1]) => new Connection({ onRetrying: (t) => void problems.push(t), onAnswer: (r) => void answers.push(r.status) }, backoff, 1000);

beforeEach(() => {
  vi.useFakeTimers();
  problems = [];
  answers = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const settle = async <T>(p: Promise<T>): Promise<T | Error> => {
  const caught = p.catch((e: unknown) => e as Error);
  await vi.advanceTimersByTimeAsync(10_000);
  return caught;
};

describe("before an answer", () => {
  it("sends the same request again while the server cannot be reached", async () => {
    const calls = serve("down", refuse(503, "unavailable"), open());
    const res = await settle(make().fetch("/x", { method: "POST", body: "same" }));
    expect(res).toBeInstanceOf(Response);
    expect(calls).toEqual(["same", "same", "same"]);
    expect(problems).toEqual(["The server can't be reached.", "It is unavailable.", ""]);
    expect(answers).toEqual([200]);
  });
  it("fails after the last retry", async () => {
    serve();
    const err = await settle(make().fetch("/x"));
    expect(err).toBeInstanceOf(ConnectionLost);
    expect((err as ConnectionLost).answered).toBe(false);
  });
  it("treats silence as a lost connection", async () => {
    serve("hang", open());
    expect(await settle(make().fetch("/x"))).toBeInstanceOf(Response);
    expect(problems[0]).toBe("The server isn't responding.");
  });
  it.each([
    [400, "unknown_field"],
    [404, "unknown_id"],
    [500, "internal"],
  ])("rejects without a retry after status %d", async (status, code) => {
    serve(refuse(status, code));
    expect(await settle(make().fetch("/x"))).toMatchObject({ status, code, message: `It is ${code}.` });
  });
  it("shows the wait of a rate limit", async () => {
    serve(refuse(429, "rate_limited", { "Retry-After": "7" }));
    const err = await settle(make().fetch("/x"));
    expect(err).toBeInstanceOf(ApiError);
    expect(err).toMatchObject({ status: 429, retryAfter: 7 });
  });
  it("retries at once when the network is back", async () => {
    serve("down", open());
    const c = make([60_000]);
    const res = c.fetch("/x");
    await vi.advanceTimersByTimeAsync(1);
    c.retryNow();
    expect(await res).toBeInstanceOf(Response);
  });
  it("ends with the request", async () => {
    serve("down", open());
    const ctl = new AbortController();
    const res = make([60_000]).fetch("/x", { signal: ctl.signal });
    const caught = res.catch((e: unknown) => e as Error);
    await vi.advanceTimersByTimeAsync(1);
    ctl.abort();
    expect(await caught).toMatchObject({ name: "AbortError" });
  });
});

describe("while it streams", () => {
  const read = async (body: ReadableStream<Uint8Array>) => {
    const reader = body.getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text;
      text += new TextDecoder().decode(value);
    }
  };
  it("passes everything on", async () => {
    serve(open());
    const res = await make().fetch("/x");
    const all = read(res.body!);
    feed.enqueue(encoder.encode("data: 1\n\n"));
    feed.enqueue(encoder.encode("data: [DO"));
    feed.enqueue(encoder.encode("NE]\n\n"));
    feed.close();
    expect(await all).toBe("data: 1\n\ndata: [DONE]\n\n");
  });
  it("an end without [DONE] is a break", async () => {
    serve(open());
    const res = await make().fetch("/x");
    const all = read(res.body!).catch((e: unknown) => e as Error);
    feed.enqueue(encoder.encode("data: 1\n\n"));
    feed.close();
    expect(await all).toMatchObject({ name: "ConnectionLost", answered: true });
  });
  it("a broken body is a break", async () => {
    serve(open());
    const res = await make().fetch("/x");
    const all = read(res.body!).catch((e: unknown) => e as Error);
    feed.error(new TypeError("network error"));
    expect(await all).toMatchObject({ name: "ConnectionLost", message: "The connection was lost." });
  });
  it("silence is a break; every byte, also a ping, resets the timeout", async () => {
    let signal: AbortSignal | undefined;
    vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
      signal = init.signal ?? undefined;
      return Promise.resolve(open(signal)());
    });
    const res = await make().fetch("/x");
    const all = read(res.body!).catch((e: unknown) => e as Error);
    for (let i = 0; i < 5; i++) {
      await vi.advanceTimersByTimeAsync(900);
      feed.enqueue(encoder.encode(": ping\n\n"));
    }
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1100);
    expect(await all).toMatchObject({ name: "ConnectionLost", message: "No response from the server for 30 seconds." });
  });
});
