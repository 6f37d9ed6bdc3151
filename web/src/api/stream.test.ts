import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "./http";
import { openStream } from "./stream";

const encoder = new TextEncoder();
let feed: ReadableStreamDefaultController<Uint8Array>;

/** A fetch whose body the test writes, and which fails like a browser's when aborted. */
function serve(status = 200, headers: Record<string, string> = {}) {
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    const stream = new ReadableStream<Uint8Array>({ start: (c) => void (feed = c) });
    init.signal?.addEventListener("abort", () => feed.error(new DOMException("aborted", "AbortError")));
    return Promise.resolve(new Response(status === 204 ? null : stream, { status, headers }));
  });
}

afterEach(() => vi.unstubAllGlobals());

describe("openStream", () => {
  it("reads events whose bytes are split inside a character", async () => {
    serve(200, { "X-Turn-Id": "t1" });
    const s = await openStream("/x", {}, new AbortController().signal);
    const bytes = encoder.encode('id: t1.4\ndata: {"type":"token","content":"🏡"}\n\n');
    const cut = bytes.indexOf(0xf0) + 2;
    feed.enqueue(bytes.slice(0, cut));
    feed.enqueue(bytes.slice(cut));
    feed.close();
    const got = [];
    for await (const e of s!) got.push(e);
    expect(got).toEqual([{ type: "token", content: "🏡", event_id: "t1.4" }]);
  });

  it("times out with the code silent; every byte, also a ping, resets the timeout", async () => {
    vi.useFakeTimers();
    try {
      serve();
      const s = await openStream("/x", {}, new AbortController().signal, 1000);
      const next = s!.next().catch((e: unknown) => e);
      await vi.advanceTimersByTimeAsync(900);
      feed.enqueue(encoder.encode(": ping\n\n"));
      await vi.advanceTimersByTimeAsync(900);
      feed.enqueue(encoder.encode(": ping\n\n"));
      await vi.advanceTimersByTimeAsync(1100);
      const err = await next;
      expect(err).toBeInstanceOf(ApiError);
      expect((err as ApiError).code).toBe("silent");
    } finally {
      vi.useRealTimers();
    }
  });

  it("is null for 204", async () => {
    serve(204);
    expect(await openStream("/x", {}, new AbortController().signal)).toBeNull();
  });

  it("translates an error into the page's text", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ error: { code: "too_large", message: "The message is too long.", message_code: "request.too_large" } }, { status: 413 })));
    await expect(openStream("/x", {}, new AbortController().signal)).rejects.toMatchObject({ status: 413, code: "too_large", message: "This is too large." });
  });

  it("shows a generic error when a proxy returns HTML", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("<html>nginx</html>", { status: 502 })));
    await expect(openStream("/x", {}, new AbortController().signal)).rejects.toMatchObject({ status: 502, transient: true, message: "The server isn't ready. Try again in a moment." });
  });
});
