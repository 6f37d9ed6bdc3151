import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { pendingQuestion, skipped, textOf } from "./parts";
import { ThreadStore } from "./store";
import { end, MemoryStorage, out, question, say, Server, start, THREAD } from "./testserver";
import { ROOT } from "./tree";

// Messages reach the server once and in order, or stay on the page with their text,
// whatever is rejected, slow, or sent in between.

let server: Server;
let store: ThreadStore;
let firstAccepted: number;
let returned: [text: string, unknown: boolean][];

const until = (what: () => void) => vi.waitFor(what, { timeout: 10_000, interval: 2 });
const texts = () => store.chat.messages.map((m) => `${m.role}: ${textOf(m)}`);
const sent = () => server.posts().map((b) => (b.message as { parts: { text: string }[] }).parts[0]!.text);
const view = () => store.snapshot();
const whole = (turn: string, text: string) => ({ chunks: [...start(turn), ...say(text), ...end()] });

/** A promise with its resolve function. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const history = [
  { id: "t1:1", role: "user", metadata: { turn_id: "t1" }, parts: [{ type: "text", text: "One" }] },
  { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "stop" }, parts: [{ type: "text", text: "First." }] },
];

const another = () => new ThreadStore(THREAD, { onFirstAccepted: () => firstAccepted++, onReturned: (o, unknown) => returned.push([o.text, unknown]) }, { backoff: [1, 1] });

beforeEach(() => {
  server = new Server();
  firstAccepted = 0;
  returned = [];
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("sessionStorage", new MemoryStorage());
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  store = another();
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
const reloaded = async () => {
  store.stopAll();
  store = another();
  await opened();
};
/** Resolves when the store has compared its messages with the server. */
const looked = async () => {
  const { length } = server.calls;
  document.dispatchEvent(new Event("visibilitychange"));
  await until(() => expect(server.calls.slice(length).some((c) => c.what === "state")).toBe(true));
};

describe("a message", () => {
  it("that is sent while the conversation loads is sent when it has loaded", async () => {
    const slow = gate();
    server.on("list", { status: 200, body: { messages: history }, after: slow.opened }).on("post", whole("t2", "Second."));
    store.start();
    const done = store.send(out("Two"));
    slow.open();
    await done;
    expect(view().load).toBe("ready");
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two", "assistant: Second."]);
  });

  it("that is sent while the conversation cannot be loaded is kept until it can", async () => {
    server.on("list", { status: 500 });
    store.start();
    await store.send(out("Two"));
    expect(view().load).toBe("failed");
    await store.load();
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two"]);
    expect(view().problem).toMatchObject({ retry: "same" });
    expect(sent()).toEqual([]);
  });

  it("waits until the previous one is on the server, and keeps its own text", async () => {
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

  it("that was rejected waits with its text when another is sent", async () => {
    await opened();
    server.on("post", { status: 429, body: { error: { code: "rate_limited", message: "Five conversations at once are enough.", message_code: "rate.turns" } }, headers: { "Retry-After": "40" } }, whole("t2", "Third."));
    await store.send(out("Two"));
    await until(() => expect(view().problem).toMatchObject({ message: "Too many of your chats are being answered. Wait for one to finish.", retry: "same" }));
    await store.send(out("Three"));
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Three", "assistant: Third."]);
    expect(view().queued).toMatchObject([{ text: "Two", failed: "Too many of your chats are being answered. Wait for one to finish." }]);
    expect(view().problem).toBeNull();
  });

  it("that was rejected as a conversation's first is replaced by the next: a reload does not send it again", async () => {
    server.on("post", { status: 429 }, whole("t1", "First."));
    store.start(out("Zero"));
    await until(() => expect(view().problem).not.toBeNull());
    expect(firstAccepted).toBe(0);
    await store.send(out("One"));
    expect(firstAccepted).toBe(1);
  });
});

describe("a rejected edit or regenerate", () => {
  beforeEach(opened);

  it("is replaced by the original when it is dismissed", async () => {
    server.on("post", { status: 429 });
    await store.edit("t1", out("Edited"));
    await until(() => expect(view().problem).not.toBeNull());
    expect(texts()).toEqual(["user: Edited"]);
    store.dismiss();
    await until(() => expect(texts()).toEqual(["user: One", "assistant: First."]));
  });

  it("is replaced by the original when something else is sent", async () => {
    server.on("post", { status: 500 }, whole("t2", "Second."));
    await store.regenerate("t1");
    await until(() => expect(view().problem).not.toBeNull());
    await store.send(out("Two"));
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two", "assistant: Second."]);
    expect(view().queued).toEqual([]);
  });
});

describe("a rejected replacement stays unchanged while the page polls:", () => {
  const longer = [
    ...history,
    { id: "t2:1", role: "user", metadata: { turn_id: "t2" }, parts: [{ type: "text", text: "Two" }] },
    { id: "t2", role: "assistant", metadata: { turn_id: "t2", finished_reason: "stop" }, parts: [{ type: "text", text: "Second." }] },
  ];
  const lists = () => server.calls.filter((c) => c.what === "list").length;
  const stays = async (shown: string[]) => {
    await until(() => expect(view().problem).not.toBeNull());
    document.dispatchEvent(new Event("visibilitychange"));
    await new Promise((resolve) => setTimeout(resolve)); // lets a watch start
    expect(server.watches).toBe(1);
    expect([lists(), texts()]).toEqual([1, shown]);
    expect(view().problem).toMatchObject({ retry: "same" });
  };

  beforeEach(async () => {
    server.list = longer;
    server.state = { ...server.state, messages: [{ turn_id: "t2" }], branches: { [ROOT]: ["t1"], t1: ["t2"] } };
    server.watched = true;
    await opened();
    await until(() => expect(server.watches).toBe(1));
    server.on("post", { status: 429, headers: { "Retry-After": "40" } });
  });

  it("an edit", async () => {
    await store.edit("t2", out("Edited"));
    await stays(["user: One", "assistant: First.", "user: Edited"]);
  });

  it("another answer", async () => {
    await store.regenerate("t2");
    await stays(["user: One", "assistant: First.", "user: Two"]);
  });

  it("an edit after a reload", async () => {
    await store.edit("t2", out("Edited"));
    server.calls = [];
    await reloaded();
    await stays(["user: One", "assistant: First.", "user: Edited"]);
  });
});

describe("an answer to a question", () => {
  const asked = () => pendingQuestion(store.chat.messages);

  beforeEach(async () => {
    server.list = [history[0], { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "interrupted" }, parts: [{ type: "data-interrupt", id: "t1.q1", data: question }] }];
    server.state = { ...server.state, active_turn: { turn_id: "t1", status: "interrupted" } };
    server.watched = true;
    await opened();
    await until(() => expect(asked()).not.toBeNull());
  });

  it("that could not be sent stays, and can be retried", async () => {
    server.on("post", "down", "down", "down", { chunks: [...start("t1"), ...say("Audited."), ...end()] });
    await store.answer(asked()!, { type: "text_input", value: "The long one" }, out("The long one"));
    await until(() => expect(view().problem).toMatchObject({ retry: "same" }));
    document.dispatchEvent(new Event("visibilitychange"));
    store.retry();
    await until(() => expect(texts().at(-1)).toBe("assistant: Audited."));
    expect(server.posts().at(-1)).toEqual(server.posts()[0]);
  });

  it("is abandoned when a message replaces it, which also supersedes the queued messages", async () => {
    server.list = [...server.list, { id: "t2:1", role: "user", metadata: { turn_id: "t2", client_turn_id: "c2" }, parts: [{ type: "text", text: "Then?" }] }];
    server.state = { ...server.state, active_turn: { turn_id: "t1", status: "interrupted" } };
    await reloaded();
    expect(view().queued.map((q) => q.text)).toEqual(["Then?"]);
    server.on("post", whole("t3", "Third."));
    await store.send(out("Something else"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Third."));
    expect(server.posts()[0]).toMatchObject({ on_busy: "supersede" });
    expect(server.posts()[0]).not.toHaveProperty("resume");
    expect(texts()).toEqual(["user: One", "assistant: ", "user: Then?", "assistant: ", "user: Something else", "assistant: Third."]);
    expect(skipped(question, store.chat.messages[1]!.metadata)).toBe(true);
    expect(view().queued).toEqual([]);
  });

  it("is open again when the message that replaced it was not sent and is dismissed", async () => {
    server.on("post", { status: 429, body: { error: { code: "rate_limited", message: "slow" } } });
    await store.send(out("Something else"));
    await until(() => expect(view().problem).toMatchObject({ retry: "same" }));
    expect(pendingQuestion(store.chat.messages)).toBeNull();
    await reloaded();
    await until(() => expect(view().problem).toMatchObject({ retry: "same" }));
    expect(texts().at(-1)).toBe("user: Something else");
    store.dismiss();
    await until(() => expect(pendingQuestion(store.chat.messages)?.interrupt_id).toBe("t1.q1"));
    expect(returned).toEqual([["Something else", false]]);
  });

  it("that is invalid returns its text, and the question stays open", async () => {
    server.on("post", { status: 400, body: { error: { code: "invalid_resume_value", message: "It does not fit.", message_code: "question.wrong_answer" } } });
    await store.answer(asked()!, { type: "text_input", value: "The long one" }, out("The long one"));
    await until(() => expect(view().problem).toMatchObject({ message: "This reply doesn't fit the question. Try another one." }));
    expect(returned).toEqual([["The long one", false]]);
    expect(asked()).not.toBeNull();
    await looked();
    expect(asked()).not.toBeNull();
  });
});

describe("a dismissed error", () => {
  const refuse = async () => {
    server.on("post", { status: 400, body: { error: { code: "validation_failed", message: "No." } } });
  };

  it("returns the text of a message", async () => {
    await opened();
    await refuse();
    await store.send(out("Two"));
    await until(() => expect(view().problem).not.toBeNull());
    store.dismiss();
    expect(returned).toEqual([["Two", false]]);
    await until(() => expect(texts()).toEqual(["user: One", "assistant: First."]));
    await reloaded();
    expect(texts()).toEqual(["user: One", "assistant: First."]);
  });

  it("returns the text of an edit", async () => {
    await opened();
    await refuse();
    await store.edit("t1", out("Edited"));
    await until(() => expect(view().problem).not.toBeNull());
    store.dismiss();
    expect(returned).toEqual([["Edited", false]]);
  });

  it("returns the text of a conversation's first message that the server does not have", async () => {
    await refuse();
    store.start(out("Zero"));
    await until(() => expect(view().problem).not.toBeNull());
    store.dismiss();
    expect(returned).toEqual([["Zero", true]]);
  });

  it("returns nothing when the server has the message", async () => {
    await opened();
    server.on("post", { chunks: [...start("t2"), ...end({ finished_reason: "error", error: { code: "internal", message: "Sorry.", retryable: true } }, "error")] });
    await store.send(out("Two"));
    store.dismiss();
    expect(returned).toEqual([]);
  });
});

describe("queued messages", () => {
  const queued = () => view().queued.map((q) => [q.text, q.failed]);
  const two = { ...whole("t2", "Second."), then: "wait" as const };

  beforeEach(opened);

  it("are sent in order, each after the previous one", async () => {
    const slow = gate();
    server.on("post", { ...two, after: slow.opened }, whole("t3", ""), whole("t4", ""));
    void store.send(out("Two"));
    await until(() => expect(sent()).toEqual(["Two"]));
    const all = [store.send(out("Three", { onBusy: "enqueue" })), store.send(out("Four", { onBusy: "enqueue" }))];
    expect(queued()).toEqual([["Three", undefined], ["Four", undefined]]);
    expect(sent()).toEqual(["Two"]);
    slow.open();
    await Promise.all(all);
    expect(sent()).toEqual(["Two", "Three", "Four"]);
  });

  it("are given to the running answer when the user says so", async () => {
    server.on("post", two, whole("t3", ""));
    void store.send(out("Two"));
    await until(() => expect(sent()).toEqual(["Two"]));
    await store.send(out("Three", { onBusy: "steer" }));
    expect(server.posts().at(-1)).toMatchObject({ on_busy: "steer" });
  });

  it("stay queued when the previous one was not accepted", async () => {
    const slow = gate();
    server.on("post", { status: 400, after: slow.opened });
    void store.send(out("Two"));
    await until(() => expect(sent()).toEqual(["Two"]));
    const waits = store.send(out("Three", { onBusy: "enqueue" }));
    slow.open();
    await waits;
    expect(queued()).toEqual([["Three", "The message before it wasn't sent."]]);
    expect(sent()).toEqual(["Two"]);
  });

  it("do not supersede an answer when they are retried", async () => {
    server.on("post", { status: 429 }, { ...whole("t3", "Third."), then: "wait" }, whole("t2", ""));
    await store.send(out("Two"));
    await until(() => expect(view().problem).not.toBeNull());
    void store.send(out("Three"));
    await until(() => expect(queued()).toMatchObject([["Two", /./]]));
    store.requeue(view().queued[0]!.id);
    await until(() => expect(sent()).toEqual(["Two", "Three", "Two"]));
    expect(server.posts()[2]).toMatchObject({ client_turn_id: server.posts()[0]!.client_turn_id, on_busy: "enqueue" });
  });

  it("survive a reload until the server has them", async () => {
    server.on("post", two, { status: 429 }, { ...whole("t4", ""), after: new Promise(() => {}) });
    void store.send(out("Two"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    await store.send(out("Three", { onBusy: "enqueue" }));
    void store.send(out("Four", { onBusy: "enqueue" }));
    await until(() => expect(sent()).toEqual(["Two", "Three", "Four"]));
    await reloaded();
    expect(queued()).toEqual([["Three", expect.any(String)], ["Four", "It may not have been sent."]]);
    server.list = [...history, { id: "t4:1", role: "user", metadata: { turn_id: "t4", client_turn_id: server.posts()[2]!.client_turn_id }, parts: [{ type: "text", text: "Four" }] }];
    await reloaded();
    expect(queued()).toEqual([["Three", expect.any(String)]]);
    await store.unqueue(view().queued[0]!.id);
    await reloaded();
    expect(queued()).toEqual([]);
  });

  it("end with a superseded turn, and say so", async () => {
    server.on("post", two, whole("t3", ""), whole("t4", "Fourth."));
    void store.send(out("Two"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    await store.send(out("Three", { onBusy: "enqueue" }));
    await store.send(out("Four"));
    expect(queued()).toEqual([]);
    expect(texts().slice(2)).toEqual(["user: Two", "assistant: Second.", "user: Three", "assistant: ", "user: Four", "assistant: Fourth."]);
    expect(store.chat.messages[5]?.metadata).toMatchObject({ finished_reason: "cancelled", interrupted_reason: "superseded" });
  });

  it("are replaced by edited ones at their place", async () => {
    server.on("post", two, whole("t3", ""), whole("t4", ""), whole("t3", ""));
    void store.send(out("Two"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    await store.send(out("Three", { onBusy: "enqueue", agent: "assistant", model: "large" }));
    await store.send(out("Four", { onBusy: "enqueue" }));
    await store.editQueued(view().queued[0]!.id, out("Three, edited"));
    expect(queued()).toEqual([["Three, edited", undefined], ["Four", undefined]]);
    expect(server.posts()[3]).toMatchObject({ replaces: "t1", on_busy: "enqueue", agent: "assistant", model: "large" }); // the fake server calls every turn t1
    expect(server.posts()[3]!.client_turn_id).not.toBe(server.posts()[1]!.client_turn_id);
  });

  it("return to the composer when they are edited too late", async () => {
    server.on("post", two, whole("t3", ""), { status: 409, body: { error: { code: "turn_begun", message: "x", message_code: "turn.begun" } } });
    void store.send(out("Two"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    await store.send(out("Three", { onBusy: "enqueue" }));
    await store.editQueued(view().queued[0]!.id, out("Three, edited"));
    expect(queued()).toEqual([["Three", undefined]]);
    expect(returned).toEqual([["Three, edited", false]]);
    expect(view().problem?.message).toMatch(/being answered already/);
  });

  it("are edited before the server has them", async () => {
    const slow = gate();
    server.on("post", { ...two, after: slow.opened }, whole("t3", ""));
    void store.send(out("Two"));
    await until(() => expect(sent()).toEqual(["Two"]));
    void store.send(out("Three", { onBusy: "enqueue" }));
    const edited = store.editQueued(view().queued[0]!.id, out("Three, edited"));
    slow.open();
    await edited;
    expect(sent()).toEqual(["Two", "Three, edited"]);
    expect(server.posts()[1]).not.toHaveProperty("replaces");
    expect(queued()).toEqual([["Three, edited", undefined]]);
  });

  it("stay when they could not be withdrawn", async () => {
    server.on("post", two, whole("t3", "")).on("cancel", { status: 503 });
    void store.send(out("Two"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    await store.send(out("Three", { onBusy: "enqueue" }));
    await store.unqueue(view().queued[0]!.id);
    expect(queued()).toEqual([["Three", undefined]]);
    expect(view().problem?.message).toMatch(/couldn't be removed from the queue/);
  });
});

describe("older messages", () => {
  const zero = [{ id: "t0:1", role: "user", metadata: { turn_id: "t0" }, parts: [{ type: "text", text: "Zero" }] }];

  it("stay when the conversation is reloaded", async () => {
    server.on("list", { status: 200, body: { messages: history, more: true } }, { status: 200, body: { messages: zero, more: false } }, { status: 200, body: { messages: history, more: true } });
    await opened();
    await store.loadMore();
    await store.load();
    expect(texts()).toEqual(["user: Zero", "user: One", "assistant: First."]);
    expect(view().more).toBe(false);
  });

  it("of another version are not prepended", async () => {
    const slow = gate();
    const other = history.map((m) => ({ ...m, metadata: { ...m.metadata, turn_id: "t5" } }));
    server.on("list", { status: 200, body: { messages: history, more: true } }, { status: 200, body: { messages: zero }, after: slow.opened }, { status: 200, body: { messages: other } });
    await opened();
    const older = store.loadMore();
    await store.show("t5");
    slow.open();
    await older;
    expect(texts()).toEqual(["user: One", "assistant: First."]);
    expect(view().loadingMore).toBe(false);
  });

  it("show a load error, and can be retried", async () => {
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

describe("a turn that ends while the conversation loads", () => {
  for (const [listed, last] of Object.entries({
    "only its message": [],
    "its question": [{ id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "interrupted" }, parts: [{ type: "data-interrupt", id: "t1.q1", data: question }] }],
  })) {
    it(`is read with its answer if the list had ${listed}`, async () => {
      server.on("list", { status: 200, body: { messages: [history[0], ...last] } });
      await opened();
      expect(texts()).toEqual(["user: One", "assistant: First."]);
    });
  }
});

describe("an invalid conversation", () => {
  it("shows an error instead of loading forever", async () => {
    server.on("list", { status: 200, body: { hello: "world" } });
    store.start();
    await until(() => expect(view().load).toBe("failed"));
  });
});

describe("a connection whose retries failed", () => {
  it("is retried when the network is back", async () => {
    await opened();
    server.on("post", { chunks: [...start("t2"), ...say("Sec")], then: "cut" }).on("attach", "down", "down", "down", "down", "down", "down", "down", "down", "down");
    await store.send(out("Two"));
    await until(() => expect(view().problem).toMatchObject({ retry: "reload" }));
    server.list = [...history, { id: "t2:1", role: "user", metadata: { turn_id: "t2" }, parts: [{ type: "text", text: "Two" }] }, { id: "t2", role: "assistant", metadata: { turn_id: "t2", finished_reason: "stop" }, parts: [{ type: "text", text: "Second." }] }];
    window.dispatchEvent(new Event("online"));
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
    expect(view().problem).toBeNull();
  });

  it("is retried silently when the error has been dismissed", async () => {
    server.watched = true;
    await opened();
    server.on("post", { chunks: [...start("t2"), ...say("Sec")], then: "cut" }).on("attach", "down", "down", "down", "down", "down", "down", "down", "down", "down");
    await store.send(out("Two"));
    await until(() => expect(view().problem).toMatchObject({ retry: "reload" }));
    server.list = [...history, { id: "t2:1", role: "user", metadata: { turn_id: "t2" }, parts: [{ type: "text", text: "Two" }] }, { id: "t2", role: "assistant", metadata: { turn_id: "t2", finished_reason: "stop" }, parts: [{ type: "text", text: "Second." }] }];
    server.state = { ...server.state, messages: [{ turn_id: "t2" }] };
    store.dismiss();
    await until(() => expect(texts().at(-1)).toBe("assistant: Second."));
  });

  it("replays the turn from its beginning when it is back", async () => {
    await opened();
    const status = (message: string) => ({ type: "data-status", id: message, data: { node: "model", message }, transient: true });
    server.on("post", { chunks: [...start("t2"), status("One"), status("Two")], then: "cut" }).on("attach", { chunks: [...start("t2"), status("One"), status("Two"), status("Three")], then: "wait" });
    void store.send(out("Two"));
    await until(() => expect(view().statuses.map((s) => s.message)).toContain("Three"));
    expect(view().statuses.map((s) => s.message)).toEqual(["One", "Two", "Three"]);
  });
});
