import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { setTokens } from "../session/token";
import { pendingQuestion, textOf } from "./parts";
import { ThreadStore } from "./store";
import { ask, end, MemoryStorage, out, question, say, Server, start, THREAD } from "./testserver";
import { ROOT } from "./tree";

let server: Server;
let store: ThreadStore;

beforeEach(() => {
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal("window", new EventTarget());
  vi.stubGlobal("sessionStorage", new MemoryStorage());
  vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
  store = new ThreadStore(THREAD, {}, { backoff: [1, 1] });
});
afterEach(() => {
  store.stopAll();
  vi.unstubAllGlobals();
});

const until = (what: () => void) => vi.waitFor(what, { timeout: 10_000, interval: 2 });
const idle = () => until(() => expect(store.busy).toBe(false));
const texts = () => store.chat.messages.map((m) => `${m.role}: ${textOf(m)}`);

describe("a new conversation", () => {
  it("sends its first message with a client turn id that a reload reuses", async () => {
    server.on("post", { chunks: [...start("t1"), ...say("Hello."), ...end()] });
    store.start(out("Hi"));
    await until(() => expect(texts()).toEqual(["user: Hi", "assistant: Hello."]));
    expect(server.posts()).toEqual([{ id: THREAD, trigger: "submit-message", message: { id: `first:${THREAD}`, role: "user", parts: [{ type: "text", text: "Hi" }] }, client_turn_id: `first:${THREAD}`, on_busy: "supersede", time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone }]);
  });

  it("reports that it has been accepted", async () => {
    const accepted = vi.fn();
    store = new ThreadStore(THREAD, { onFirstAccepted: accepted });
    server.on("post", { chunks: [...start("t1"), ...end()] });
    store.start(out("Hi"));
    await until(() => expect(accepted).toHaveBeenCalled());
  });
});

describe("a retry", () => {
  it("of a message that may have arrived sends the same message", async () => {
    server.on("post", "down", { chunks: [...start("t1"), ...say("Hello."), ...end()] });
    store.start(out("Hi"));
    await until(() => expect(texts()).toEqual(["user: Hi", "assistant: Hello."]));
    const [a, b] = server.posts();
    expect(a).toEqual(b);
  });

  it("by the user sends the same message, too", async () => {
    server.on("post", "down", "down", "down", { chunks: [...start("t1"), ...say("Hello."), ...end()] });
    store.start(out("Hi"));
    await until(() => expect(store.snapshot().problem?.retry).toBe("same"));
    store.retry();
    await until(() => expect(texts()).toEqual(["user: Hi", "assistant: Hello."]));
    expect(new Set(server.posts().map((b) => b.client_turn_id)).size).toBe(1);
  });

  it("after 429 waits for Retry-After", async () => {
    server.on("post", { status: 429, headers: { "Retry-After": "40" } });
    store.start(out("Hi"));
    await until(() => expect(store.snapshot().problem?.until).toBeGreaterThan(Date.now() + 30_000));
    store.retry();
    expect(server.posts()).toHaveLength(1);
  });

  it("after the model failed is another answer, not another message", async () => {
    const failed = { finished_reason: "error", error: { code: "model_unavailable", message: "The model did not answer.", message_code: "turn.model_unavailable", retryable: true } };
    server.on("post", { chunks: [...start("t1"), ...say("Half"), { type: "message-metadata", messageMetadata: failed }, { type: "finish-step" }, { type: "error", errorText: "The model did not answer." }, { type: "finish", finishReason: "error" }] });
    store.start(out("Hi"));
    await until(() => expect(store.snapshot().problem).toEqual({ message: "The AI service didn't respond. Try again in a moment.", inAnswer: true, retry: "again" }));
    expect(texts()).toEqual(["user: Hi", "assistant: Half"]);
    server.on("post", { chunks: [...start("t2"), ...say("Whole."), ...end()] });
    store.retry();
    await until(() => expect(texts()).toEqual(["user: Hi", "assistant: Whole."]));
    expect(server.posts()[1]).toMatchObject({ trigger: "regenerate-message", messageId: "t1" });
  });
});

describe("a stream that breaks", () => {
  it("is reattached, and the message is complete and shown once", async () => {
    server.on("post", { chunks: [...start("t1"), { type: "text-start", id: "text-1" }, { type: "text-delta", id: "text-1", delta: "One " }], then: "cut" });
    server.on("attach", { chunks: [...start("t1"), ...say("One two."), ...end()] });
    store.start(out("Hi"));
    await until(() => expect(texts()).toEqual(["user: Hi", "assistant: One two."]));
    await idle();
    expect(server.calls.map((c) => c.what).slice(0, 2)).toEqual(["post", "attach"]);
  });

  it("of a turn that ended meanwhile is loaded from the history", async () => {
    server.on("post", { chunks: start("t1"), then: "cut" });
    server.on("attach", { status: 204 });
    server.list = [
      { id: "t1:1", role: "user", metadata: { turn_id: "t1" }, parts: [{ type: "text", text: "Hi" }] },
      { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "stop" }, parts: [{ type: "text", text: "All of it." }] },
    ];
    store.start(out("Hi"));
    await until(() => expect(texts()).toEqual(["user: Hi", "assistant: All of it."]));
    await idle();
  });

  describe("because its token has expired", () => {
    const expired = { finished_reason: "error", error: { code: "unauthenticated", message: "The token has expired.", retryable: true } };
    const ends = [{ type: "message-metadata", messageMetadata: expired }, { type: "finish-step" }, { type: "error", errorText: "The token has expired." }, { type: "finish", finishReason: "error" }];
    afterEach(() => setTokens(undefined));

    it("is reattached with a new token", async () => {
      setTokens({ current: async () => "t", renew: async () => undefined, newest: () => "t" });
      server.on("post", { chunks: [...start("t1"), ...say("One "), ...ends] });
      server.on("attach", { chunks: [...start("t1"), ...say("One two."), ...end()] });
      store.start(out("Hi"));
      await until(() => expect(texts()).toEqual(["user: Hi", "assistant: One two."]));
      await idle();
      expect(store.snapshot().problem).toBeNull();
    });

    it("says to sign in when there is no new one", async () => {
      setTokens({ current: async () => "t", renew: async () => undefined, newest: () => "t" });
      server.on("post", { chunks: [...start("t1"), ...say("One "), ...ends] });
      server.on("attach", { status: 401 }, { status: 401 }, { status: 401 }, { status: 401 });
      store.start(out("Hi"));
      await until(() => expect(store.snapshot().problem).not.toBeNull());
    });
  });

  it("permanently lets the user choose", async () => {
    server.on("post", { chunks: [...start("t1"), ...say("Half")], then: "cut" });
    server.on("attach", "down", "down", "down");
    store.start(out("Hi"));
    await until(() => expect(store.snapshot().problem?.retry).toBe("reload"));
    expect(texts()).toEqual(["user: Hi", "assistant: Half"]);
    expect(store.busy).toBe(false);
  });
});

describe("a conversation that is opened", () => {
  const history = [
    { id: "t1:1", role: "user", metadata: { turn_id: "t1" }, parts: [{ type: "text", text: "One" }] },
    { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "stop" }, parts: [{ type: "text", text: "First." }] },
  ];

  it("follows the running turn, and keeps queued messages separate", async () => {
    server.list = [...history, { id: "t2:1", role: "user", metadata: { turn_id: "t2" }, parts: [{ type: "text", text: "Two" }] }, { id: "t3:1", role: "user", metadata: { turn_id: "t3" }, parts: [{ type: "text", text: "Three" }] }];
    server.state = { ...server.state, active_turn: { turn_id: "t2", status: "running" } };
    server.on("attach", { chunks: [...start("t2"), ...say("Second.")], then: "wait" });
    store.start();
    await until(() => expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two", "assistant: Second."]));
    expect(store.snapshot().queued).toMatchObject([{ text: "Three", turnId: "t3" }]);
    expect(store.busy).toBe(true);
  });

  it("shows the open question, and does not request its stream", async () => {
    server.list = [history[0], { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "interrupted" }, parts: [{ type: "data-interrupt", id: "t1.q1", data: question }] }];
    server.state = { ...server.state, active_turn: { turn_id: "t1", status: "interrupted" } };
    store.start();
    await until(() => expect(pendingQuestion(store.chat.messages)?.interrupt_id).toBe("t1.q1"));
    await idle();
    expect(server.calls.some((c) => c.what === "attach")).toBe(false);
  });

  it("that does not exist is missing, and one that cannot be loaded shows an error", async () => {
    server.on("list", { status: 404 }).on("state", { status: 404 });
    store.start();
    await until(() => expect(store.snapshot().load).toBe("missing"));
    server.on("list", { status: 500 });
    await store.load();
    expect(store.snapshot()).toMatchObject({ load: "failed" });
    server.list = history;
    await store.load();
    expect(store.snapshot().load).toBe("ready");
  });

  it("continues the branch that is shown", async () => {
    server.list = history;
    server.state = { ...server.state, branches: { [ROOT]: ["t1", "t2"] } };
    store.start();
    await until(() => expect(store.snapshot().load).toBe("ready"));
    await store.show("t1");
    server.on("post", { chunks: [...start("t3"), ...end()] });
    await store.send(out("Next"));
    expect(server.posts()[0]).toMatchObject({ parent_checkpoint_id: "t1" });
  });

  it("edits a message in its place", async () => {
    server.list = history;
    server.state = { ...server.state, branches: { [ROOT]: ["t1"] } };
    store.start();
    await until(() => expect(store.snapshot().load).toBe("ready"));
    server.on("post", { chunks: [...start("t2"), ...say("Other."), ...end()] });
    const tiptap = { type: "doc" };
    const picture = { id: "p1", url: "/api/attachments/p1", mime: "image/png", name: "a.png" };
    await store.edit("t1", out("Edited", { tiptap, taggedDocIds: ["d1"], taggedSetIds: ["s1"], action: "audit", webSearch: true, attachments: [picture] }));
    expect(texts()).toEqual(["user: Edited", "assistant: Other."]);
    expect(store.chat.messages[0]?.metadata).toMatchObject({ tiptap_json: tiptap });
    expect(server.posts()[0]).toMatchObject({
      parent_checkpoint_id: ROOT,
      message: { parts: [{ type: "file", url: picture.url, mediaType: "image/png" }, { type: "text", text: "Edited" }] },
      tiptap_json: tiptap,
      tagged_doc_ids: ["d1"],
      tagged_set_ids: ["s1"],
      action: "audit",
      enable_web_search: true,
    });
  });

  it("keeps the document of a message that gets another answer", async () => {
    server.list = [{ ...history[0], metadata: { turn_id: "t1", tiptap_json: { type: "doc" } } }, history[1]];
    store.start();
    await until(() => expect(store.snapshot().load).toBe("ready"));
    server.on("post", { chunks: [...start("t2"), ...say("Other."), ...end()] });
    await store.regenerate("t1");
    expect(store.chat.messages[0]?.metadata).toMatchObject({ tiptap_json: { type: "doc" } });
  });
});

describe("the chosen version", () => {
  const version = (turn: string) => [
    { id: `${turn}:1`, role: "user", metadata: { turn_id: turn }, parts: [{ type: "text", text: "One" }] },
    { id: turn, role: "assistant", metadata: { turn_id: turn, finished_reason: "stop" }, parts: [{ type: "text", text: `Of ${turn}.` }] },
  ];
  const heads = () => server.calls.filter((c) => c.what === "list").map((c) => new URL(c.url, "http://x").searchParams.get("head"));
  /** Reloads the page. */
  const reload = async () => {
    store.stopAll();
    server.calls = [];
    store = new ThreadStore(THREAD, {}, { backoff: [1, 1] });
    store.start();
    await until(() => expect(store.snapshot().load).toBe("ready"));
  };

  beforeEach(async () => {
    server.list = version("t1");
    server.state = { ...server.state, branches: { [ROOT]: ["t1", "t2"] } };
    store.start();
    await until(() => expect(store.snapshot().load).toBe("ready"));
    await store.show("t1");
  });

  it("is shown after a reload, and a message continues and then clears it", async () => {
    await reload();
    expect(heads()).toEqual(["t1"]);
    server.on("post", { chunks: [...start("t3"), ...end()] });
    await store.send(out("Next"));
    expect(server.posts()[0]).toMatchObject({ parent_checkpoint_id: "t1" });
    await reload();
    expect(heads()).toEqual([null]);
  });

  it("is cleared by choosing the newest, and by regenerating", async () => {
    await store.show("t2");
    await reload();
    expect(heads()).toEqual([null]);
    await store.show("t1");
    server.on("post", { chunks: [...start("t3"), ...say("Other."), ...end()] });
    await store.regenerate("t1");
    await reload();
    expect(heads()).toEqual([null]);
  });

  it("that no longer exists is replaced by the newest", async () => {
    server.on("list", { status: 404 });
    await reload();
    expect(heads()).toEqual(["t1", null]);
    expect(texts()).toEqual(["user: One", "assistant: Of t1."]);
    await reload();
    expect(heads()).toEqual([null]);
  });

  it("is replaced by a turn that runs elsewhere", async () => {
    server.state = { ...server.state, active_turn: { turn_id: "t3", status: "running" } };
    server.on("attach", { chunks: [...start("t3"), ...say("New.")], then: "wait" });
    store.stopAll();
    server.calls = [];
    store = new ThreadStore(THREAD, {}, { backoff: [1, 1] });
    store.start();
    await until(() => expect(heads()).toEqual(["t1", null]));
    await until(() => expect(texts().at(-1)).toBe("assistant: New."));
  });
});

describe("a message that the server has not accepted", () => {
  const history = [
    { id: "t1:1", role: "user", metadata: { turn_id: "t1" }, parts: [{ type: "text", text: "One" }] },
    { id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "stop" }, parts: [{ type: "text", text: "First." }] },
  ];
  const open = async () => {
    store.stopAll();
    store = new ThreadStore(THREAD, {}, { backoff: [1, 1] });
    store.start();
    await until(() => expect(store.snapshot().load).toBe("ready"));
  };

  beforeEach(async () => {
    server.list = history;
    await open();
    server.on("post", { status: 429, headers: { "Retry-After": "40" } });
    await store.send(out("Two"));
    await until(() => expect(store.snapshot().problem?.retry).toBe("same"));
  });

  it("is shown after a reload, and a retry sends the same message", async () => {
    await open();
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two"]);
    server.on("post", { chunks: [...start("t2"), ...say("Second."), ...end()] });
    store.retry();
    await until(() => expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two", "assistant: Second."]));
    const [a, b] = server.posts();
    expect(b).toEqual(a);
    server.list = [...history, { id: "t2:1", role: "user", metadata: { turn_id: "t2" }, parts: [{ type: "text", text: "Two" }] }];
    await open();
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two"]);
    expect(store.snapshot().problem).toBeNull();
  });

  it("is not shown twice when the server has it after all", async () => {
    server.list = [...history, { id: "t2:1", role: "user", metadata: { turn_id: "t2", client_turn_id: server.posts()[0]!.client_turn_id }, parts: [{ type: "text", text: "Two" }] }];
    await open();
    expect(texts()).toEqual(["user: One", "assistant: First.", "user: Two"]);
    expect(store.snapshot().problem).toBeNull();
  });

  it("is discarded when its notice is dismissed", async () => {
    store.dismiss();
    await open();
    expect(texts()).toEqual(["user: One", "assistant: First."]);
  });

  it("stays in place if it was an edit", async () => {
    server.state = { ...server.state, branches: { [ROOT]: ["t1"] } };
    await open();
    server.on("post", { status: 429 });
    await store.edit("t1", out("Edited"));
    await open();
    expect(texts()).toEqual(["user: Edited"]);
  });
});

describe("a question", () => {
  beforeEach(async () => {
    server.on("post", { chunks: [...start("t1"), ...ask] });
    store.start(out("Summarize and audit"));
    await until(() => expect(pendingQuestion(store.chat.messages)).toMatchObject({ interrupt_id: "t1.q1" }));
    await idle();
  });

  it("is answered in the same message", async () => {
    server.on("post", { chunks: [{ type: "start", messageId: "t1", messageMetadata: { turn_id: "t1" } }, { type: "start-step" }, ...say("Audited."), ...end()] });
    await store.answer(pendingQuestion(store.chat.messages)!, { type: "action_choice", value: "audit" });
    expect(texts()).toEqual(["user: Summarize and audit", "assistant: Audited."]);
    expect(server.posts()[1]).toMatchObject({ id: THREAD, resume: { interrupt_id: "t1.q1", resume_value: { type: "action_choice", value: "audit" } } });
    expect(pendingQuestion(store.chat.messages)).toBeNull();
  });

  it("is restored when its answer was rejected", async () => {
    server.on("post", { status: 400, body: { error: { code: "invalid_resume_value", message: "No option.", message_code: "question.wrong_answer" } } });
    await store.answer(pendingQuestion(store.chat.messages)!, { type: "action_choice", value: "x" });
    expect(pendingQuestion(store.chat.messages)).not.toBeNull();
    expect(store.snapshot().problem?.message).toBe("This reply doesn't fit the question. Try another one.");
  });

  it("that was answered elsewhere is removed", async () => {
    server.on("post", { status: 400, body: { error: { code: "no_pending_interrupt", message: "x" } } });
    server.list = [{ id: "t1", role: "assistant", metadata: { turn_id: "t1", finished_reason: "stop" }, parts: [{ type: "text", text: "Done elsewhere." }] }];
    await store.answer(pendingQuestion(store.chat.messages)!, { type: "action_choice", value: "audit" });
    await until(() => expect(texts()).toEqual(["assistant: Done elsewhere."]));
    expect(store.snapshot().problem).toBeNull();
  });
});

describe("while a turn runs", () => {
  beforeEach(async () => {
    server.on("post", { chunks: [...start("t1"), { type: "text-start", id: "text-1" }, { type: "text-delta", id: "text-1", delta: "Half" }], then: "wait" });
    store.start(out("One"));
    await until(() => expect(texts()).toEqual(["user: One", "assistant: Half"]));
  });

  it("a message supersedes it, and the partial answer stays, marked", async () => {
    server.on("post", { chunks: [...start("t2"), ...say("Second."), ...end()] });
    await store.send(out("Two"));
    expect(texts()).toEqual(["user: One", "assistant: Half", "user: Two", "assistant: Second."]);
    expect(store.chat.messages[1]?.metadata).toMatchObject({ interrupted: true, interrupted_reason: "superseded" });
    expect(server.posts()[1]).toMatchObject({ on_busy: "supersede" });
  });

  it("a message can be queued behind it", async () => {
    server.on("post", { chunks: start("t2"), then: "wait" });
    await store.send(out("Two", { onBusy: "enqueue" }));
    expect(store.snapshot().queued).toMatchObject([{ text: "Two", turnId: "t1" }]);
    expect(server.posts()[1]).toMatchObject({ on_busy: "enqueue" });
    expect(texts()).toEqual(["user: One", "assistant: Half"]);
  });

  it("a queued message that the server did not accept can be retried with its id", async () => {
    server.on("post", { status: 429 }, { chunks: start("t2"), then: "wait" });
    await store.send(out("Two", { onBusy: "enqueue" }));
    const [q] = store.snapshot().queued;
    expect(q?.failed).toBeTruthy();
    store.requeue(q!.id);
    await until(() => expect(store.snapshot().queued[0]).toMatchObject({ turnId: "t1" }));
    expect(server.posts()[2]).toEqual(server.posts()[1]);
  });

  it("a queued message that the server did not accept survives a reload of the history", async () => {
    server.on("post", { status: 429 });
    await store.send(out("Two", { onBusy: "enqueue" }));
    server.state = { ...server.state, active_turn: { turn_id: "t1", status: "running" } };
    server.list = [
      { id: "t1:1", role: "user", metadata: { turn_id: "t1" }, parts: [{ type: "text", text: "One" }] },
      { id: "t2:1", role: "user", metadata: { turn_id: "t2", client_turn_id: "c2" }, parts: [{ type: "text", text: "Three" }] },
    ];
    server.on("attach", { chunks: start("t1"), then: "wait" });
    void store.load();
    await until(() => expect(store.snapshot().queued).toMatchObject([{ id: "c2", text: "Three", turnId: "t2" }, { text: "Two" }]));
    expect(store.snapshot().queued[1]?.failed).toBeTruthy();
  });

  it("Stop names the turn and waits for its end", async () => {
    await store.stop();
    expect(server.calls.at(-1)).toMatchObject({ what: "cancel", body: { thread_id: THREAD, turn_id: "t1" } });
    expect(store.snapshot().stopping).toBe(true);
    expect(store.busy).toBe(true);
    for (const finish of server.finish) finish();
    await idle();
    await until(() => expect(store.snapshot().stopping).toBe(false));
  });
});
