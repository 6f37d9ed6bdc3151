// The client of clients/typescript against the running product, through a proxy that cuts its streams.
import "./dom.mjs";
import { render } from "./dom.mjs";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { createElement as h } from "react";
import { readDocument, readTypes, typesOf } from "../../clients/typescript/openapi.mjs";
import { rolldown } from "../../clients/typescript/node_modules/rolldown/dist/index.mjs";
import { gate } from "../model-server.mjs";
import { afterEachEvent, afterMoreEvents, insideEvents, startCutter } from "./cutter.mjs";
import { unpackClient } from "./packed.mjs";
import { eventually, person, SDKS, text } from "./sdk.mjs";
import { model, offline, scripted, useStacks } from "./stacks.mjs";

const MAX_BYTES = 12_000;
const MAX_SCRIPT_BYTES = 4_000;
const WORDS = ["The keeper ", "winds ", "the clock ", "— every “evening” — ", "at seven. ", "😀 ", "Then he ", "sleeps."];
const WHOLE = WORDS.join("");

const packed = unpackClient("ai");
const { createClient, ApiError, ConnectionLost } = await packed.read("index");

useStacks();

/** A client of a new anonymous user. */
const newClient = (url, options = {}) => createClient({ baseUrl: url, fetch: person(url).fetch, backoff: [1], ...options });

/** A client whose token is a personal key. */
async function withKey(stack, options = {}) {
  const { body } = await person(stack.url).call("POST", "/api/me/keys", { name: "client", days: 1 });
  return createClient({ baseUrl: stack.url, token: body.key, backoff: [1], ...options });
}

const collect = async (turn) => {
  const events = [];
  for await (const event of turn) events.push(event);
  return events;
};

/** Each event once, in order, and the answer whole. */
function assertWhole(events, whole) {
  const ids = events.map((e) => e.event_id);
  assert.equal(new Set(ids).size, ids.length, `an event came twice: ${ids}`);
  assert.equal(events.at(-1).response, whole);
  assert.equal(events.filter((e) => e.type === "token").map((e) => e.content).join(""), whole);
}

async function bundle(entry, format = "esm") {
  const build = await rolldown({ input: `${packed.folder}/dist/${entry}.js`, external: [/^(ai|react)$/], platform: "neutral" });
  const { output } = await build.generate({ format, minify: true, name: "palaver" });
  await build.close();
  return output[0];
}

describe("the package", () => {
  it("has the types of the server's OpenAPI document (npm run types URL)", async () => {
    assert.equal(await readTypes(), typesOf(await readDocument(offline.url)));
  });

  it("is packed with its readme, licence, code and types", () => {
    for (const name of ["README.md", "LICENSE", "package.json", "dist/index.js", "dist/index.d.ts", "dist/react.js", "dist/ai-sdk.js"]) assert.ok(packed.files.includes(name), name);
    assert.ok(!packed.files.some((f) => /^(src|test|node_modules)/.test(f)));
    assert.equal(readFileSync(`${packed.folder}/LICENSE`, "utf8"), readFileSync(new URL("../../LICENSE", import.meta.url), "utf8"));
    assert.ok(readFileSync(`${packed.folder}/README.md`, "utf8").split("\n").length <= 60);
    assert.equal(JSON.parse(readFileSync(`${packed.folder}/package.json`, "utf8")).dependencies, undefined);
  });

  it(`needs no other module, and is smaller than ${MAX_BYTES} bytes, compressed`, async () => {
    const sizes = {};
    for (const [entry, needs] of Object.entries({ index: [], react: ["react"], "ai-sdk": ["ai"] })) {
      const { code, imports, dynamicImports } = await bundle(entry);
      assert.deepEqual([...imports, ...dynamicImports], needs, entry);
      sizes[entry] = gzipSync(code, { level: 9 }).length;
      assert.ok(sizes[entry] < MAX_BYTES, `${entry} has ${sizes[entry]} bytes`);
    }
    console.log("# bytes, compressed:", sizes);
  });

  it("works where there is nothing of Node and no document: a worker", async () => {
    const { code } = await bundle("index", "iife");
    const worker = { AbortController, URLSearchParams, Headers, TextDecoder, FormData, crypto, setTimeout, clearTimeout, fetch: person(offline.url).fetch };
    vm.runInNewContext(`${code}; globalThis.client = palaver.createClient({ baseUrl: ${JSON.stringify(offline.url)} });`, worker);
    const { status, text } = await worker.client.thread().send("hello").done;
    assert.equal(status, "done");
    assert.match(text, /I am Palaver/);
  });
});

describe("the script of a chat on any page", () => {
  it(`is smaller than ${MAX_SCRIPT_BYTES} bytes, compressed, and pages of any origin may load it`, async () => {
    const res = await fetch(`${offline.url}/embed.js`);
    assert.equal(res.headers.get("cross-origin-resource-policy"), "cross-origin");
    const size = gzipSync(await res.text(), { level: 9 }).length;
    assert.ok(size > 500 && size < MAX_SCRIPT_BYTES, `${size} bytes`);
    console.log("# bytes, compressed:", size);
  });
});

describe("a stream that is cut", () => {
  let cutter;
  before(async () => (cutter = await startCutter(scripted.url)));
  after(() => cutter?.stop());
  beforeEach(() => {
    Object.assign(cutter, { cut: () => undefined, cuts: 0, streams: [], refuse: 0, freeze: false });
  });

  for (const [name, cut] of Object.entries({ "after each event": afterEachEvent, "inside of events": insideEvents(97) })) {
    it(`${name}: the answer is whole, each event comes once`, async () => {
      cutter.cut = cut;
      model.says({ calls: [{ name: "list_documents" }] }, { say: WORDS });
      const thread = newClient(cutter.url).thread();
      const turn = thread.send("When?", { agent: "assistant" });
      const events = await collect(turn);
      assertWhole(events, WHOLE);
      assert.deepEqual(events.filter((e) => e.type.startsWith("tool")).map((e) => e.type), ["tool_call", "tool_result"]);
      assert.ok(cutter.cuts >= 4, `${cutter.cuts} cuts`);
      assert.equal(cutter.streams.filter((s) => s.startsWith("POST")).length, 1, "the message is sent once");
      assert.deepEqual(thread.snapshot().messages.map((m) => m.text), ["When?", WHOLE]);
      assert.equal((await thread.history()).messages.length, 2, "one turn");
    });
  }

  it("before the answer: the message is sent again and joins its turn", async () => {
    cutter.refuse = 3;
    cutter.cut = (_, nth) => (nth === 1 ? 0 : undefined);
    model.says({ say: WORDS });
    const thread = newClient(cutter.url).thread();
    assertWhole(await collect(thread.send("When?", { agent: "assistant" })), WHOLE);
    assert.equal((await thread.history()).messages.length, 2, "one turn");
  });

  it("an answer to an approval, with edited arguments: the call runs once", async () => {
    const { generate } = await tools();
    const thread = newClient(cutter.url).thread();
    cutter.cut = afterEachEvent;
    model.says({ calls: [generate] }, { say: WORDS });
    const first = await thread.send("Draw a cat", { agent: "assistant" }).done;
    assert.equal(first.status, "asking");
    const [call] = thread.snapshot().question.tool_calls;
    const events = await collect(thread.decide([{ id: call.id, decision: "approved", arguments: { prompt: "a dog in a hat" } }]));
    assert.equal(events.at(-1).response, WHOLE);
    assert.equal(events.filter((e) => e.type === "tool_result").length, 1);
    assert.equal(thread.snapshot().question, undefined);
    assert.ok(model.asked.at(-1).includes("a dog in a hat"));
  });

  it("that goes silent is attached again", async () => {
    const held = gate();
    model.says({ say: ["The keeper ", held, "sleeps."] });
    const turn = newClient(cutter.url, { silence: 400 }).thread().send("When?", { agent: "assistant" });
    await eventually(() => turn.snapshot().text === "The keeper ", "the beginning");
    cutter.freeze = true;
    await eventually(() => turn.snapshot().retrying, "the silence to be noticed");
    cutter.freeze = false;
    held.open();
    assertWhole(await collect(turn), "The keeper sleeps.");
  });

  it("by another network is attached again at once", async () => {
    const held = gate();
    model.says({ say: ["The keeper ", held, "sleeps."] });
    const bus = new EventTarget();
    globalThis.addEventListener = bus.addEventListener.bind(bus);
    globalThis.removeEventListener = bus.removeEventListener.bind(bus);
    try {
      const turn = newClient(cutter.url, { backoff: [600_000] }).thread().send("When?", { agent: "assistant" });
      await eventually(() => turn.snapshot().text === "The keeper ", "the beginning");
      bus.dispatchEvent(new Event("online")); // ends the stream
      await eventually(() => turn.snapshot().retrying, "the stream to end");
      bus.dispatchEvent(new Event("online")); // ends the delay
      held.open();
      assertWhole(await collect(turn), "The keeper sleeps.");
      assert.equal(cutter.streams.length, 2);
    } finally {
      delete globalThis.addEventListener;
      delete globalThis.removeEventListener;
    }
  });

  it("too often is given up, and can be attached again", async () => {
    const held = gate();
    model.says({ say: ["The keeper ", held, "sleeps."] });
    const thread = newClient(cutter.url, { retries: 2 }).thread();
    const turn = thread.send("When?", { agent: "assistant" });
    await eventually(() => turn.snapshot().text !== "", "the beginning");
    cutter.cut = () => 0;
    held.open();
    const stopped = turn.done.then(() => null, (err) => err);
    cutter.freeze = false;
    const err = await Promise.race([stopped, turn.done.catch((e) => e)]);
    if (err instanceof Error) assert.ok(err instanceof ConnectionLost);
    cutter.cut = () => undefined;
    await thread.load();
    await eventually(() => thread.snapshot().messages.at(-1).text === "The keeper sleeps.", "the answer");
  });

  for (const sdk of SDKS) {
    it(`in useChat's transport, ${sdk.name}`, async () => {
      const { PalaverChatTransport } = await unpackClient(sdk.name.startsWith("ai 6") ? "ai-6" : "ai").read("ai-sdk");
      cutter.cut = afterMoreEvents;
      model.says({ calls: [{ name: "list_documents" }] }, { say: WORDS });
      const chat = new sdk.Chat({ id: `cut-${Date.now()}`, transport: new PalaverChatTransport({ baseUrl: cutter.url, fetch: person(cutter.url).fetch, backoff: [1], retries: 400, body: { agent: "assistant" } }), onError: (err) => assert.fail(err) });
      await chat.sendMessage({ text: "When?" });
      assert.equal(chat.status, "ready");
      assert.equal(text(chat.lastMessage), WHOLE);
      assert.equal(chat.messages.length, 2);
      assert.ok(cutter.cuts > 4);
    });
  }
});

const tools = async () => ({ generate: { name: "generate_image", args: { prompt: "a cat" } } });

describe("a thread", () => {
  it("is stopped, and keeps what was written", async () => {
    model.says({ say: ["The keeper ", gate()] });
    const thread = newClient(scripted.url).thread();
    const turn = thread.send("When?", { agent: "assistant" });
    await eventually(() => turn.snapshot().text === "The keeper ", "the beginning");
    await thread.stop();
    assert.equal((await turn.done).status, "stopped");
    assert.equal(thread.snapshot().messages.at(-1).text, "The keeper");
  });

  it("takes a message that supersedes, one that waits, and one for the running turn", async () => {
    const thread = newClient(scripted.url).thread();
    const send = (message, on_busy) => thread.send(message, { agent: "assistant", on_busy });
    model.says({ say: ["First ", gate()] });
    const first = send("One");
    await eventually(() => first.snapshot().text !== "", "the first answer");
    const held = gate();
    model.says({ say: ["Second ", held, "end."] }, { say: ["Third."] });
    const second = send("Two", "supersede");
    assert.equal((await first.done).status, "stopped");
    assert.equal((await collect(first)).at(-1).reason, "superseded");
    await eventually(() => second.snapshot().text !== "", "the second answer");
    const third = send("Three", "enqueue");
    await third.accepted;
    assert.equal(second.snapshot().status, "running");
    held.open();
    assert.equal((await second.done).text, "Second end.");
    assert.equal((await third.done).text, "Third.");
    const slow = gate();
    model.says({ say: [slow], calls: [{ name: "list_documents" }] }, { say: ["Both."] });
    const fourth = send("Four");
    await fourth.accepted;
    const fifth = send("Five", "steer");
    await fifth.accepted;
    assert.equal(fifth.id, fourth.id);
    slow.open();
    assert.equal((await fourth.done).text, "Both.");
    assert.equal((await fifth.done).text, "Both.");
    assert.deepEqual(thread.snapshot().messages.filter((m) => m.role === "assistant").map((m) => m.text), ["First", "Second end.", "Third.", "Both."]);
  });

  it("has branches, and is loaded by another client, also while a turn runs", async () => {
    const client = await withKey(scripted);
    const thread = client.thread();
    model.says({ say: ["One."] }, { say: ["Another."] });
    const { response } = await thread.send("First", { agent: "assistant" }).done;
    const edited = await thread.send("Edited", { agent: "assistant", parent_checkpoint_id: "root" }).done;
    assert.deepEqual(thread.snapshot().messages.map((m) => m.text), ["Edited", "Another."]);
    const other = client.thread(thread.id);
    await other.load({ head: response.checkpoint_id });
    assert.deepEqual(other.snapshot().messages.map((m) => m.text), ["First", "One."]);
    assert.deepEqual(new Set(other.snapshot().branches.root), new Set([response.checkpoint_id, edited.response.checkpoint_id]));
    const held = gate();
    model.says({ say: ["Live ", held, "end."] });
    const turn = thread.send("More", { agent: "assistant" });
    await eventually(() => turn.snapshot().text === "Live ", "the beginning");
    await other.load();
    await eventually(() => other.snapshot().messages.at(-1).text === "Live ", "the same beginning");
    held.open();
    await turn.done;
    await eventually(() => other.snapshot().messages.at(-1).text === "Live end.", "the end");
    const { items } = await client.conversations.list();
    assert.ok(items.some((c) => c.id === thread.id));
    await client.conversations.delete(thread.id);
    await assert.rejects(client.conversations.get(thread.id), { status: 404 });
  });

  it("answers questions", async () => {
    const client = newClient(offline.url);
    const doc = await client.documents.upload(new File(["# Notes\n\nThe keeper winds the clock at seven."], "notes.md"));
    const thread = client.thread();
    const asked = await thread.send("Summarize and audit this document", { tagged_doc_ids: [doc.id] }).done;
    assert.equal(asked.question.interrupt_type, "action_choice");
    await assert.rejects(thread.answer({ type: "action_choice", value: "nonsense" }).done, { code: "invalid_resume_value" });
    assert.equal(thread.snapshot().question.interrupt_id, asked.question.interrupt_id, "it stays open");
    const { status } = await thread.answer({ type: "action_choice", value: "summarize" }).done;
    assert.equal(status, "done");
  });

  it("refuses what the server refuses", async () => {
    const turn = newClient(offline.url).thread().send("");
    await assert.rejects(turn.done, (err) => err instanceof ApiError && err.status === 400 && err.details[0].field === "message");
    await assert.rejects(collect(turn), ApiError);
    await assert.rejects(createClient({ baseUrl: offline.url, token: "plv_wrong" }).thread().send("hello").done, { status: 401 });
  });
});

describe("the rest of the client", () => {
  it("uploads with progress, lists, searches, downloads and deletes documents", async () => {
    const client = newClient(offline.url);
    const shares = [];
    const doc = await client.documents.upload(new File(["The keeper winds the clock at seven."], "notes.txt"), { title: "Notes", onProgress: (share) => shares.push(share) });
    assert.deepEqual([shares[0], shares.at(-1)], [0, 1]);
    assert.equal(doc.title, "Notes");
    await eventually(async () => (await client.documents.get(doc.id)).status === "ready", "the document");
    const { hits } = await client.search("When is the clock wound?", { doc_ids: [doc.id] });
    assert.equal(hits[0].doc_id, doc.id);
    assert.ok((await client.documents.list()).items.some((d) => d.id === doc.id));
    assert.equal(await (await client.documents.original(doc.id)).text(), "The keeper winds the clock at seven.");
    await client.documents.delete(doc.id);
    assert.deepEqual(await client.documents.sets(), { items: [] });
  });

  it("asks for a token before each request, and for another one after a 401", async () => {
    const { body } = await person(offline.url).call("POST", "/api/me/keys", { name: "client", days: 1 });
    const given = ["plv_expired", body.key];
    const client = createClient({ baseUrl: offline.url, token: async () => (given.length > 1 ? given.shift() : given[0]), backoff: [1] });
    assert.equal((await client.thread().send("hello").done).status, "done");
    let failures = 2;
    const late = createClient({ baseUrl: offline.url, backoff: [1], token: async () => (failures-- > 0 ? Promise.reject(new Error("the provider is slow")) : body.key) });
    assert.equal((await late.thread().send("hello").done).status, "done", "a token that cannot be had now is waited for");
  });
});

describe("the React hook", () => {
  const pages = [];
  afterEach(() => pages.splice(0).forEach((page) => page.stop()));

  it("sends, streams, and re-attaches in a page that is opened meanwhile", async () => {
    const { useThread } = await packed.read("react");
    const client = await withKey(scripted);
    const open = (id) => {
      const page = {};
      function Page() {
        page.chat = useThread(client, id);
        return h("ul", null, page.chat.messages.map((m) => h("li", { key: m.id }, `${m.role}: ${m.text}`)));
      }
      Object.assign(page, render(h(Page)));
      pages.push(page);
      return page;
    };
    const held = gate();
    model.says({ say: ["Once upon ", held, "a time."] });
    const page = open();
    await eventually(() => page.chat, "the page");
    page.chat.send("Tell me a story", { agent: "assistant" });
    await eventually(() => page.lines().at(-1) === "assistant: Once upon ", "the beginning");
    assert.equal(page.chat.running, true);
    const second = open(page.chat.id);
    await eventually(() => second.lines().at(-1) === "assistant: Once upon ", "the beginning, again");
    held.open();
    for (const { lines } of [page, second]) await eventually(() => lines().at(-1) === "assistant: Once upon a time.", "the end");
    await eventually(() => !page.chat.running, "the end");
  });
});
