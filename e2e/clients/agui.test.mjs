// AG-UI's own client against the running product.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { HttpAgent } from "@ag-ui/client";
import { gate } from "../model-server.mjs";
import { eventually, person } from "./sdk.mjs";
import { model, offline, scripted, useStacks } from "./stacks.mjs";

const NOTES = "# Lighthouse notes\n\nThe lighthouse keeper winds the clock every evening at seven.\n";

useStacks();

let ids = 0;
const message = (content) => ({ id: `message-${++ids}-${Math.random()}`, role: "user", content });

/** Returns a person's agent that records its events and errors. */
function newAgent(who, url, threadId = `thread-${Math.random()}`, options = {}) {
  const agent = new HttpAgent({ url: `${url}/api/agui`, threadId, fetch: (input, init) => who.fetch(input, init), ...options });
  const events = [];
  const errors = [];
  agent.subscribe({ onEvent: ({ event }) => void events.push(event), onRunFailed: ({ error }) => void errors.push(error) });
  return Object.assign(agent, {
    events,
    errors,
    say(content, parameters) {
      events.length = 0;
      agent.addMessage(message(content));
      return agent.runAgent(parameters);
    },
    ended: () => events.at(-1),
  });
}

const palaver = (fields) => ({ forwardedProps: { palaver: fields } });
const types = (agent) => [...new Set(agent.events.map((e) => e.type))];
const text = (agent) => agent.messages.filter((m) => m.role === "assistant" && m.content).at(-1)?.content;

/** A conversation in short: ids, roles and contents in their order. */
const listed = (agent) =>
  agent.messages.map(({ id, role, content, toolCalls, toolCallId, metadata }) => ({ id, role, content, toolCalls, toolCallId, failed: metadata?.is_error }));

/** Opens a thread again with the agent that ran its turns, and with a new one: both have the same conversation as before. */
async function reopens(agent, who, url) {
  const before = listed(agent);
  await agent.runAgent();
  assert.deepEqual(listed(agent), before, "the agent that ran the turns");
  const fresh = newAgent(who, url, agent.threadId);
  await fresh.runAgent();
  const asked = fresh.messages.filter((m) => /\.m[1-9]\d*$/.test(m.id)); // questions and answers
  assert.deepEqual(listed(fresh).filter((m) => !asked.some((q) => q.id === m.id)), before, "a new agent");
  const opened = listed(fresh);
  await fresh.runAgent();
  assert.deepEqual(listed(fresh), opened, "the new agent, again");
  return { fresh, asked: asked.map((m) => m.content) };
}

async function upload(who) {
  const { body } = await who.call("POST", "/api/documents", { title: "Lighthouse notes", text: NOTES });
  await eventually(async () => (await who.call("GET", `/api/documents/${body.id}`)).body.status === "ready", "the document");
  return body.id;
}

describe("@ag-ui/client 1.0.0, with the offline engine", () => {
  let who;
  beforeEach(() => (who = person(offline.url)));

  it("a run: steps, text, documents and citations in the state", async () => {
    const doc = await upload(who);
    const agent = newAgent(who, offline.url, undefined, { initialState: { mine: 1 } });
    await agent.say("When does the lighthouse keeper wind the clock?", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    assert.deepEqual(agent.errors, []);
    assert.match(text(agent), /every evening at seven/);
    assert.equal(agent.events[0].type, "RUN_STARTED");
    const steps = agent.events.filter((e) => e.type === "STEP_STARTED").map((e) => e.stepName);
    assert.deepEqual(steps, ["intent_resolver", "doc_resolver", "validate_inputs", "inquire", "format_response"]);
    assert.equal(agent.events.filter((e) => e.type === "STEP_FINISHED").length, steps.length);
    assert.equal(agent.state.mine, 1, "the client's own state is kept");
    assert.deepEqual(agent.state.palaver.documents, [{ id: doc, title: "Lighthouse notes" }]);
    assert.equal(agent.state.palaver.citations[0].doc_id, doc);
    assert.deepEqual(agent.ended().outcome, { type: "success" });
    await agent.say("And why?", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    assert.deepEqual(agent.errors, []);
    const { branches } = (await who.call("GET", `/api/chat/history/${who.thread}`)).body;
    assert.equal(branches.root.length, 1, "the second message follows the first");
  });

  it("a question is an interrupt, and a resume answers it", async () => {
    const doc = await upload(who);
    const agent = newAgent(who, offline.url);
    await agent.say("Summarize and audit this document", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    const [asked] = agent.pendingInterrupts;
    assert.equal(asked.reason, "action_choice");
    assert.ok(asked.responseSchema.properties.value.enum.includes("summarize"));
    await agent.runAgent({ resume: [{ interruptId: asked.id, status: "resolved", payload: { value: "summarize" } }] });
    assert.deepEqual(agent.errors, []);
    assert.deepEqual(agent.pendingInterrupts, []);
    assert.deepEqual(agent.ended().outcome, { type: "success" });
    assert.ok(text(agent).length > 0);
  });

  it("a question that is cancelled ends its turn", async () => {
    const doc = await upload(who);
    const agent = newAgent(who, offline.url);
    await agent.say("Summarize and audit this document", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0].id, status: "cancelled" }] });
    assert.deepEqual(agent.errors, []);
    assert.deepEqual(agent.ended().outcome, { type: "cancelled" });
  });

  it("a question that is cancelled with a new message: the message is answered", async () => {
    const doc = await upload(who);
    const agent = newAgent(who, offline.url);
    await agent.say("Summarize and audit this document", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    const cancelled = () => ({ resume: [{ interruptId: asked.id, status: "cancelled" }], ...palaver({ tagged_doc_ids: [doc] }) });
    const [asked] = agent.pendingInterrupts;
    await agent.say("When does the lighthouse keeper wind the clock?", cancelled());
    assert.deepEqual(agent.errors, []);
    assert.deepEqual(agent.ended().outcome, { type: "success" });
    assert.match(text(agent), /every evening at seven/);
    const again = newAgent(who, offline.url, agent.threadId, { initialMessages: agent.messages.filter((m) => m.role === "user") });
    await again.runAgent(cancelled());
    assert.equal(text(again), text(agent), "a retry shows the same turn");
    const { messages } = (await who.call("GET", `/api/chat/history/${who.thread}`)).body;
    assert.equal(messages.filter((m) => m.role === "user").length, 2);
    await reopens(agent, who, offline.url);
  });

  it("a thread with questions that is opened again keeps its order", async () => {
    const doc = await upload(who);
    const agent = newAgent(who, offline.url);
    await agent.say("Summarize and audit this document", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    const [asked] = agent.pendingInterrupts;
    const waiting = newAgent(who, offline.url, agent.threadId);
    await waiting.runAgent();
    assert.deepEqual(listed(waiting), listed(agent));
    assert.deepEqual(waiting.pendingInterrupts, [asked]);
    await agent.runAgent({ resume: [{ interruptId: asked.id, status: "resolved", payload: { value: "summarize" } }] });
    await agent.say("When does the lighthouse keeper wind the clock?", palaver({ agent: "documents", tagged_doc_ids: [doc] }));
    const { asked: told } = await reopens(agent, who, offline.url);
    assert.equal(told[0], asked.message, "a new agent can read what was asked");
    assert.equal(told.length, 2);
  });

  it("a thread of another person is an empty one", async () => {
    const agent = newAgent(who, offline.url);
    await agent.say("hello");
    const stranger = newAgent(person(offline.url), offline.url, who.thread);
    await stranger.runAgent();
    assert.deepEqual(stranger.messages, []);
  });

  it("a bad request fails the run with the field's name", async () => {
    const agent = newAgent(who, offline.url);
    await assert.rejects(agent.say("hello", palaver({ agent: "nobody" })));
    assert.match(agent.errors[0].message, /forwardedProps\.palaver\.agent/);
  });
});

describe("@ag-ui/client 1.0.0, with a scripted model", () => {
  let who;
  beforeEach(() => (who = person(scripted.url)));

  it("an approval with edited arguments: the tool runs with them", async () => {
    model.says({ calls: [{ name: "generate_image", args: { prompt: "a cat" } }] }, { say: ["Drawn."] });
    const agent = newAgent(who, scripted.url);
    await agent.say("draw a cat");
    const [asked] = agent.pendingInterrupts;
    assert.equal(asked.reason, "tool_approval");
    const call = agent.messages.flatMap((m) => m.toolCalls ?? []).find((c) => c.id === asked.toolCallId);
    assert.deepEqual(JSON.parse(call.function.arguments), { prompt: "a cat" });
    const edited = { ...asked.metadata.tool_calls[0].arguments, prompt: "a dog" };
    await agent.runAgent({ resume: [{ interruptId: asked.id, status: "resolved", payload: { approved: true, arguments: edited } }] });
    assert.deepEqual(agent.errors, []);
    assert.equal(text(agent), "Drawn.");
    const result = agent.messages.find((m) => m.role === "tool");
    assert.equal(result.toolCallId, asked.toolCallId);
    const [ran] = (await who.call("GET", `/api/chat/history/${who.thread}`)).body.messages.at(-1).metadata.tool_results;
    assert.equal(ran.arguments.prompt, "a dog");
    await reopens(agent, who, scripted.url);
  });

  it("a thread that is opened again keeps its order: texts, calls and their results", async () => {
    model.says(
      { say: ["I look."], calls: [{ name: "search_documents", args: { query: "clock" } }, { name: "search_documents", args: { query: "lighthouse" } }] },
      { say: ["I draw."], calls: [{ name: "generate_image", args: { prompt: "a cat" } }] },
      { say: ["Done."] },
      { say: ["You are welcome."] },
    );
    const agent = newAgent(who, scripted.url);
    await agent.say("look and draw");
    const waiting = newAgent(who, scripted.url, agent.threadId);
    await waiting.runAgent();
    assert.deepEqual(listed(waiting), listed(agent));
    await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0].id, status: "resolved", payload: false }] });
    await agent.say("thank you");
    assert.deepEqual(agent.errors, []);
    assert.equal(agent.messages.filter((m) => m.toolCalls).length, 3);
    await reopens(agent, who, scripted.url);
  });

  it("a picture stays when its thread is opened again", async () => {
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    model.says({ say: ["A pixel."] });
    const agent = newAgent(who, scripted.url);
    await agent.say([{ type: "text", text: "What is it?" }, { type: "image", source: { type: "data", value: pixel, mimeType: "image/png" } }]);
    assert.deepEqual(agent.errors, []);
    await agent.runAgent();
    const [said, shown] = agent.messages[0].content;
    assert.deepEqual(said, { type: "text", text: "What is it?" });
    assert.equal(shown.type, "image");
    assert.equal((await who.fetch(shown.source.value)).status, 200);
    await reopens(agent, who, scripted.url);
  });

  it("a stop from another tab ends the run as cancelled, with its text", async () => {
    const rest = gate();
    model.says({ say: ["Begun ", rest, "never said"] });
    const agent = newAgent(who, scripted.url);
    const run = agent.say("go on");
    await eventually(() => types(agent).includes("TEXT_MESSAGE_CONTENT"), "the text");
    assert.equal((await who.call("POST", "/api/agui/stop", { threadId: agent.threadId })).status, 202);
    await run;
    rest.open();
    assert.deepEqual(agent.errors, []);
    assert.deepEqual(agent.ended().outcome, { type: "cancelled" });
    assert.match(text(agent), /^Begun/);
    const ids = agent.messages.map((m) => m.id);
    await agent.runAgent();
    assert.deepEqual(agent.messages.map((m) => m.id), ids);
    assert.equal(text(agent).trim(), "Begun");
  });

  it("abortRun also stops the turn", async () => {
    const rest = gate();
    model.says({ say: ["Begun ", rest, "never said"] });
    const agent = newAgent(who, scripted.url);
    const run = agent.say("go on").catch(() => {});
    await eventually(() => types(agent).includes("TEXT_MESSAGE_CONTENT"), "the text");
    const { thread } = who;
    agent.abortRun();
    await run;
    const done = await eventually(async () => (await who.call("GET", `/api/chat/history/${thread}`)).body.messages.find((m) => m.role === "assistant"), "the end of the turn");
    rest.open();
    assert.equal(done.metadata.finished_reason, "cancelled");
  });

  it("a client that comes back gets the messages and the turn that runs", async () => {
    const rest = gate();
    model.says({ say: ["The first."] }, { say: ["Begun ", rest, "and finished."] });
    const agent = newAgent(who, scripted.url);
    await agent.say("one");
    const run = agent.say("two", palaver({ on_disconnect: "continue" })).catch(() => {});
    await eventually(() => types(agent).includes("TEXT_MESSAGE_CONTENT"), "the text");
    agent.abortRun();
    await run;
    const back = newAgent(who, scripted.url, agent.threadId);
    const again = back.runAgent();
    await eventually(() => text(back)?.startsWith("Begun"), "the text so far");
    assert.deepEqual(back.messages.filter((m) => m.role === "user").map((m) => m.content), ["one", "two"]);
    rest.open();
    await again;
    assert.deepEqual(back.errors, []);
    assert.equal(text(back), "Begun and finished.");
    const later = newAgent(who, scripted.url, agent.threadId);
    await later.runAgent();
    assert.deepEqual(later.messages.map((m) => m.content), ["one", "The first.", "two", "Begun and finished."]);
    await agent.runAgent();
    assert.deepEqual(listed(agent), listed(later), "the agent that lost its connection");
    await reopens(agent, who, scripted.url);
  });

  it("a failed model is a RUN_ERROR with its code", async () => {
    model.says({ status: 401 });
    const agent = newAgent(who, scripted.url);
    await agent.say("fail").catch(() => {});
    assert.equal(agent.ended().type, "RUN_ERROR");
    assert.equal(agent.ended().code, "model_rejected");
  });
});
