import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { textOf } from "./parts";
import { ThreadStore } from "./store";
import { end, Kept, out, say, Server, start, THREAD } from "./testserver";
import { ROOT } from "./tree";

// What is sent reaches the server once, in its order, or stays on the page with
// its words: whatever is refused, slow, or sent in between.

let server: Server;
let store: ThreadStore;
let firstAccepted: number;

const until = (what: () => void) => vi.waitFor(what, { timeout: 10_000, interval: 2 });
const texts = () => store.chat.messages.map((m) => `${m.role}: ${textOf(m)}`);
const sent = () => server.posts().map((b) => (b.message as { parts: { text: string }[] }).parts[0]!.text);
const view = () => store.snapshot();
const whole = (turn: string, text: string) => ({ chunks: [...start(turn), ...say(text), ...end()] });

/** A promise and what fulfils it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const history = [
  { id: "t1:1", role: "user", metadata: { turn_id: "t1" }, parts: [{ type: "text", text: "One" }] },
  { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "stop" }, parts: [{ type: "text", text: "First." }] },
];

beforeEach(() => {
  server = new Server();
  firstAccepted = 0;
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("sessionStorage", new Kept());
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  store = new ThreadStore(THREAD, { onFirstAccepted: () => firstAccepted++ }, { backoff: [1, 1] });
  server.list = history;
  server.state = { ...server.state, messages: [{ turn_id: "t1" }], branches: { [ROOT]: ["t1"] } };
});
afterEach(() => {
  store.stopAll();
  vi.unstubAllGlobals();
});

const opened = async () => {
  store.start();
  await until(() => expect(view().load).toBe("ready"));
};

describe("a message", () => {
  it("that is sent while the conversation is read goes out when it has been read", async () => {
    const slow = gate();
    server.on("list", { status: 200, body: { messages: history }, after: slow.opened }).on("post", whole("t2", "Second."));
    store.start();
    const done = store.send(out("Two"));
    slow.open();
    await done;
    expect(view().load).toBe("ready");
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two", "assistant: Second."]);
  });

  it("that is sent while the conversation cannot be read is kept until it can", async () => {
    server.on("list", { status: 500 });
    store.start();
    await store.send(out("Two"));
    expect(view().load).toBe("failed");
    await store.load();
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two"]);
    expect(view().problem).toMatchObject({ retry: "same" });
    expect(sent()).toEqual([]);
  });

  it("waits until the one before is on the server, and carries its own words", async () => {
    await opened();
    const slow = gate();
    server.on("post", { ...whole("t2", "Second."), then: "wait", after: slow.opened }, { ...whole("t3", "Third."), then: "wait" }, whole("t4", "Fourth."));
    const all = [store.send(out("Two")), store.send(out("Three")), store.send(out("Four"))];
    await until(() => expect(sent()).toEqual(["Two"]));
    slow.open();
    await Promise.all(all);
    expect(sent()).toEqual(["Two", "Three", "Four"]);
    expect(texts().filter((t) => t.startsWith("user"))).toEqual(["user: One", "user: Two", "user: Three", "user: Four"]);
  });

  it("that was refused waits with its words when another is sent", async () => {
    await opened();
    server.on("post", { status: 429, body: { error: { code: "rate_limited", message: "Five conversations at once are enough." } }, headers: { "Retry-After": "40" } }, whole("t2", "Third."));
    await store.send(out("Two"));
    await until(() => expect(view().problem).toMatchObject({ message: "Five conversations at once are enough.", retry: "same" }));
    await store.send(out("Three"));
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Three", "assistant: Third."]);
    expect(view().queued).toMatchObject([{ text: "Two", failed: "Five conversations at once are enough." }]);
    expect(view().problem).toBeNull();
  });

  it("that was refused as a conversation's first gives way to the next: a reload does not send it again", async () => {
    server.on("post", { status: 429 }, whole("t1", "First."));
    store.start(out("Zero"));
    await until(() => expect(view().problem).not.toBeNull());
    expect(firstAccepted).toBe(0);
    await store.send(out("One"));
    expect(firstAccepted).toBe(1);
  });
});

describe("an edit or another answer that was refused", () => {
  beforeEach(opened);

  it("gives way to what was there when it is dismissed", async () => {
    server.on("post", { status: 429 });
    await store.edit("t1", out("Edited"));
    await until(() => expect(view().problem).not.toBeNull());
    expect(texts()).toEqual(["user: Edited"]);
    store.dismiss();
    await until(() => expect(texts()).toEqual(["user: One", "assistant: First."]));
  });

  it("gives way to what was there when something else is sent", async () => {
    server.on("post", { status: 500 }, whole("t2", "Second."));
    await store.regenerate("t1");
    await until(() => expect(view().problem).not.toBeNull());
    await store.send(out("Two"));
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two", "assistant: Second."]);
    expect(view().queued).toEqual([]);
  });
});

describe("older messages", () => {
  it("that cannot be read say so, and can be asked for again", async () => {
    server.on("list", { status: 200, body: { messages: history, more: true } }, { status: 503 });
    await opened();
    await store.loadMore();
    expect(view().moreProblem).not.toBe("");
    server.list = [{ id: "t0:1", role: "user", metadata: { turn_id: "t0" }, parts: [{ type: "text", text: "Zero" }] }];
    await store.loadMore();
    expect(view().moreProblem).toBe("");
    expect(texts()).toEqual(["user: Zero", "user: One", "assistant: First."]);
  });
});

describe("what is no conversation", () => {
  it("is a failure in words, not a page that waits for ever", async () => {
    server.on("list", { status: 200, body: { hello: "world" } });
    store.start();
    await until(() => expect(view().load).toBe("failed"));
  });
});

describe("a connection that was given up", () => {
  it("is sought again when the network is back", async () => {
    await opened();
    server.on("post", { chunks: [...start("t2"), ...say("Sec")], then: "cut" }).on("attach", "down", "down", "down", "down", "down", "down", "down", "down", "down");
    await store.send(out("Two"));
    await until(() => expect(view().problem).toMatchObject({ retry: "reload" }));
    server.list = [...history, { id: "t2:1", role: "user", metadata: { turn_id: "t2" }, parts: [{ type: "text", text: "Two" }] }, { id: "t2", role: "assistant", metadata: { turn_id: "t2", finished_reason: "stop" }, parts: [{ type: "text", text: "Second." }] }];
    window.dispatchEvent(new Event("online"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    expect(view().problem).toBeNull();
  });
});
