// OpenAI's own client for Node against the running product.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import OpenAI from "openai";
import { gate } from "../model-server.mjs";
import { eventually, person } from "./sdk.mjs";
import { model, offline, scripted, useStacks } from "./stacks.mjs";

const NOTES = "# Lighthouse notes\n\nThe lighthouse keeper winds the clock every evening at seven.\n";
const DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

useStacks();

const user = (content) => ({ role: "user", content });
const assistant = (content) => ({ role: "assistant", content });

/** Returns a person with a personal key, and OpenAI's client that uses it. */
async function newClient(url) {
  const who = person(url);
  const { status, body } = await who.call("POST", "/api/me/keys", { name: "the openai package" });
  assert.equal(status, 201);
  who.key = body.key;
  who.ai = new OpenAI({ apiKey: body.key, baseURL: `${url}/v1`, maxRetries: 0 });
  who.say = async (messages, { agent = "assistant", ...options } = {}) => {
    const { data, response } = await who.ai.chat.completions.create({ model: `palaver-${agent}`, messages }, options).withResponse();
    who.thread = response.headers.get("x-thread-id") ?? who.thread;
    return { text: data.choices[0].message.content, thread: data.palaver?.thread_id, turn: data.palaver?.turn_id, data };
  };
  who.history = async (thread) => (await who.call("GET", `/api/chat/history/${thread}`)).body;
  return who;
}

async function upload(who) {
  const { body } = await who.call("POST", "/api/documents", { title: "Lighthouse notes", text: NOTES });
  await eventually(async () => (await who.call("GET", `/api/documents/${body.id}`)).body.status === "ready", "the document");
  return body.id;
}

describe("openai 7.57.0, with the offline engine", () => {
  let who;
  beforeEach(async () => (who = await newClient(offline.url)));

  it("lists the agents as models", async () => {
    const ids = (await who.ai.models.list()).data.map((m) => m.id);
    assert.ok(ids.includes("palaver-documents") && ids.includes("palaver-assistant"), ids.join());
    assert.equal((await who.ai.models.retrieve("palaver-documents")).id, "palaver-documents");
  });

  it("an answer has its citations as annotations and footnotes", async () => {
    await upload(who);
    const { data, text, thread, turn } = await who.say([user("When does the lighthouse keeper wind the clock, in Lighthouse notes?")], { agent: "documents" });
    assert.match(text, /every evening at seven/);
    assert.match(text, /\n\n---\n\[1\] \[Lighthouse notes\]/);
    const [{ url_citation: cite }] = data.choices[0].message.annotations;
    assert.equal(cite.url, `${offline.url}/chat/${thread}#cite=${turn}.1`);
    assert.equal(cite.title, "Lighthouse notes");
    assert.equal([...text].slice(cite.start_index, cite.end_index).join(""), "[1]");
  });

  it("a question has numbered choices, and the next message answers it", async () => {
    await upload(who);
    const asked = user("Summarize and audit Lighthouse notes");
    const question = await who.say([asked], { agent: "documents" });
    assert.match(question.text, /\n1\. \w+/);
    assert.ok(question.data.palaver.interrupt_id);
    const choice = /(\d)\. Summarize/.exec(question.text)[1];
    const messages = [asked, assistant(question.text), user(choice)];
    const answer = await who.say(messages, { agent: "documents" });
    assert.equal(answer.turn, question.turn, "it is the same turn");
    const again = await who.say(messages, { agent: "documents" });
    assert.equal(again.turn, question.turn, "a repeated answer must not be a new message");
    assert.equal(again.text, answer.text);
    const more = await who.say([...messages, assistant(answer.text), user("When does the keeper wind the clock?")], { agent: "documents" });
    assert.equal(more.thread, answer.thread, "the conversation continues after an answered question");
  });

  it("a question is answered by the words of a choice, and another text is a new message", async () => {
    await upload(who);
    const asked = user("Summarize and audit Lighthouse notes");
    const question = await who.say([asked], { agent: "documents" });
    const answer = await who.say([asked, assistant(question.text), user("summarize")], { agent: "documents" });
    assert.equal(answer.turn, question.turn);
    const again = await who.say([asked], { agent: "documents" });
    assert.notEqual(again.thread, question.thread);
    const other = await who.say([asked, assistant(again.text), user("When does the lighthouse keeper wind the clock?")], { agent: "documents" });
    assert.equal(other.thread, again.thread);
    assert.notEqual(other.turn, again.turn);
    assert.match(other.text, /every evening at seven/);
  });

  it("requests of Open WebUI and LibreChat: their tasks make no turn, their messages do", async () => {
    const folder = new URL("../../api/dialect/openai/testdata/", import.meta.url);
    const conversations = async () => (await who.call("GET", "/api/conversations")).body.items.length;
    for (const name of (await readdir(folder)).sort()) {
      const body = JSON.parse(await readFile(new URL(name, folder), "utf8"));
      const before = await conversations();
      const res = await fetch(`${offline.url}/v1/chat/completions`, { method: "POST", headers: { authorization: `Bearer ${who.key}`, "content-type": "application/json" }, body: JSON.stringify(body) });
      assert.equal(res.status, 200, name);
      assert.match(await res.text(), body.stream ? /data: \[DONE\]\n\n$/ : /"finish_reason":"stop"/, name);
      const turns = (await conversations()) - before;
      assert.equal(turns, /-(message|files)\.json$/.test(name) ? 1 : 0, name);
    }
  });

  it("an approval shows the arguments, and yes approves it", async () => {
    const asked = user("draw a cat in a hat");
    const question = await who.say([asked]);
    assert.match(question.text, /generate_image/);
    assert.match(question.text, /cat in a hat/);
    assert.match(question.text, /1\. Approve\n2\. Reject/);
    const answer = await who.say([asked, assistant(question.text), user("yes")]);
    assert.equal(answer.turn, question.turn);
    const results = (await who.history(answer.thread)).messages.at(-1).metadata.tool_results;
    assert.equal(results[0].is_error, false);
  });

  it("a picture in a message is an attachment of it", async () => {
    const { thread } = await who.say([user([{ type: "text", text: "What is this?" }, { type: "image_url", image_url: { url: DOT } }])]);
    assert.equal((await who.history(thread)).messages[0].metadata.attachments.length, 1);
  });

  it("tools of the client are ignored, and the answer names them; demanded calls, unknown models and invalid keys are rejected with errors in OpenAI's format", async () => {
    const request = { model: "palaver-assistant", messages: [user("x")], tools: [{ type: "function", function: { name: "f", parameters: {} } }] };
    assert.deepEqual((await who.ai.chat.completions.create(request)).palaver.ignored, ["tools"]);
    await assert.rejects(who.ai.chat.completions.create({ ...request, tool_choice: "required" }), (err) => {
      assert.ok(err instanceof OpenAI.BadRequestError);
      assert.equal(err.param, "tool_choice");
      assert.match(err.message, /tools of their own/);
      return true;
    });
    await assert.rejects(who.say([user("x")], { agent: "nobody" }), (err) => err instanceof OpenAI.BadRequestError && err.param === "model");
    const stranger = new OpenAI({ apiKey: "plv_wrong", baseURL: `${offline.url}/v1`, maxRetries: 0 });
    await assert.rejects(stranger.models.list(), (err) => err instanceof OpenAI.AuthenticationError && err.type === "authentication_error");
  });

  it("a revoked key is refused at once", async () => {
    const [key] = (await who.call("GET", "/api/me/keys")).body.items;
    await who.ai.models.list();
    assert.equal((await who.call("DELETE", `/api/me/keys/${key.id}`)).status, 204);
    await assert.rejects(who.ai.models.list(), OpenAI.AuthenticationError);
  });
});

describe("openai 7.57.0, with a scripted model", () => {
  let who;
  beforeEach(async () => (who = await newClient(scripted.url)));

  it("streams the text as the model writes it, with usage at the end", async () => {
    const rest = gate();
    model.says({ say: ["One ", rest, "two."] });
    const stream = await who.ai.chat.completions.create({ model: "palaver-assistant", messages: [user("count")], stream: true, stream_options: { include_usage: true } });
    let text = "";
    let last;
    let finish;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
      if (text === "One ") rest.open();
      last = chunk;
    }
    assert.equal(text, "One two.");
    assert.equal(finish, "stop");
    assert.ok(last.usage.total_tokens > 0);
  });

  it("messages continue their thread, and an edit makes a branch", async () => {
    model.says({ say: ["First answer."] }, { say: ["Second answer."] }, { say: ["Edited answer."] });
    const one = await who.say([user("first")]);
    const before = [user("first"), assistant(one.text)];
    const two = await who.say([...before, user("second")]);
    assert.equal(two.thread, one.thread);
    const edited = await who.say([...before, user("second, edited")]);
    assert.equal(edited.thread, one.thread);
    const { branches } = await who.history(one.thread);
    assert.deepEqual(branches[one.turn].sort(), [two.turn, edited.turn].sort());
    model.says({ say: ["Another first answer."] }, { say: ["After it."] }, { say: ["After the first."] });
    const other = await who.say([user("first")]);
    assert.notEqual(other.thread, one.thread, "the message starts a new conversation");
    assert.equal((await who.say([...before, user("third")])).thread, one.thread, "it continues the conversation that has this answer");
    assert.equal((await who.say([user("first"), assistant(other.text), user("third")])).thread, other.thread);
  });

  it("a named thread continues with only the newest message in the request", async () => {
    const headers = { "X-Thread-Id": "my-thread" };
    const one = await who.say([user("one")], { headers });
    const two = await who.say([user("two")], { headers });
    assert.equal(one.thread, "my-thread");
    const { messages } = await who.history(who.thread);
    assert.deepEqual(messages.filter((m) => m.role === "user").map((m) => m.content), ["one", "two"]);
    assert.notEqual(one.turn, two.turn);
  });

  it("a retry with the same Idempotency-Key is one turn", async () => {
    model.says({ say: ["Once."] });
    const options = { headers: { "Idempotency-Key": `key-${Math.random()}` } };
    const one = await who.say([user("only once")], options);
    const again = await who.say([user("only once")], options);
    assert.equal(again.turn, one.turn);
    assert.equal(again.text, "Once.");
    await assert.rejects(who.say([user("something else")], options), OpenAI.ConflictError);
  });

  it("the SDK's own retry after a lost connection is the same turn", async () => {
    model.says({ say: ["Once."] });
    let lost = 1;
    const fetchLosing = async (url, init) => {
      const res = await fetch(url, init);
      if (lost-- <= 0) return res;
      await res.body.cancel();
      throw new TypeError("the connection was lost");
    };
    const ai = new OpenAI({ apiKey: who.key, baseURL: `${scripted.url}/v1`, maxRetries: 1, fetch: fetchLosing });
    const { data, response } = await ai.chat.completions
      .create({ model: "palaver-assistant", messages: [user("once, please")] }, { headers: { "Idempotency-Key": crypto.randomUUID() } })
      .withResponse();
    assert.equal(lost, -1, "it was sent twice");
    assert.equal(data.choices[0].message.content, "Once.");
    const { messages } = await who.history(response.headers.get("x-thread-id"));
    assert.deepEqual(messages.map((m) => m.content), ["once, please", "Once."]);
  });

  for (const [how, ends] of [["continue", "completed"], ["cancel", "cancelled"]]) {
    it(`a client that aborts: X-On-Disconnect: ${how}`, async () => {
      const rest = gate();
      model.says({ say: ["Begun ", rest, "and finished."] });
      const stream = await who.ai.chat.completions.create({ model: "palaver-assistant", messages: [user("go on")], stream: true }, { headers: { "X-On-Disconnect": how, "X-Thread-Id": `abort-${how}` } });
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break; // aborts the request
      stream.controller.abort();
      const list = (await who.call("GET", "/api/conversations")).body.items;
      const thread = list[0].id;
      if (how === "continue") rest.open();
      const done = await eventually(async () => {
        const { messages } = await who.history(thread);
        return messages.find((m) => m.role === "assistant");
      }, "the end of the turn");
      rest.open();
      assert.equal(done.metadata.finished_reason, ends === "completed" ? "stop" : "cancelled");
      assert.match(done.content, ends === "completed" ? /and finished/ : /^Begun$/);
    });
  }

  it("a failed model is an error of the SDK's own class, streamed or not", async () => {
    model.says({ status: 401 }, { status: 401 });
    await assert.rejects(who.say([user("fail")]), (err) => err instanceof OpenAI.InternalServerError && err.code === "model_rejected");
    const stream = await who.ai.chat.completions.create({ model: "palaver-assistant", messages: [user("fail again")], stream: true });
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, (err) => err instanceof OpenAI.APIError && err.code === "model_rejected");
  });

  it("a personal key cannot make keys", async () => {
    const res = await fetch(`${scripted.url}/api/me/keys`, { headers: { authorization: `Bearer ${who.key}` } });
    assert.equal(res.status, 403);
  });
});
