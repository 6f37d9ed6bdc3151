// React apps over the AI SDK dialect: the SDK's useChat, and assistant-ui's
// react-ai-sdk runtime, which edits and regenerates without a messageId.
import { render } from "./dom.mjs";
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, describe, it } from "node:test";
import { createElement as h } from "react";
import { AssistantRuntimeProvider } from "@assistant-ui/react";
import { AssistantChatTransport, useChatRuntime } from "@assistant-ui/react-ai-sdk";
import { lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { startStack } from "../stack.mjs";
import { gate } from "../model-server.mjs";
import { startModel } from "./model.mjs";
import { eventually, person, SDKS, text } from "./sdk.mjs";

let stack;
let model;

before(async () => {
  model = await startModel();
  stack = await startStack({ LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "scripted" });
});

after(async () => {
  await stack?.stop();
  await model?.stop();
});

for (const sdk of SDKS) {
  describe(`useChat of ${sdk.name}`, () => {
    const pages = [];
    afterEach(() => pages.splice(0).forEach((page) => page.stop()));

    /** A page that shows a chat and resumes its running turn. */
    function open(who, id, messages) {
      const page = { chat: null };
      const transport = new sdk.DefaultChatTransport({ api: "/api/ui/chat", fetch: who.fetch, body: { agent: "assistant" } });
      function Page() {
        page.chat = sdk.useChat({ id, messages, transport, resume: true });
        return h("ul", null, page.chat.messages.map((m) => h("li", { key: m.id }, `${m.role}: ${text(m)}`)));
      }
      Object.assign(page, render(h(Page)));
      pages.push(page);
      return page;
    }

    it("streams an answer, also to a page that is opened meanwhile", async () => {
      const who = person(stack.url);
      const id = `chat-${sdk.name.length}-${Date.now()}`;
      const held = gate();
      model.says({ say: ["Once upon ", held, "a time."] });
      const page = open(who, id);
      await eventually(() => page.chat, "the page");
      page.chat.sendMessage({ text: "Tell me a story" });
      await eventually(() => page.lines().at(-1) === "assistant: Once upon ", "the beginning");
      const second = open(who, id, (await who.call("GET", `/api/ui/chat/${id}`)).body.messages);
      await eventually(() => second.lines().at(-1) === "assistant: Once upon ", "the beginning, again");
      held.open();
      for (const { lines } of [page, second]) {
        await eventually(() => lines().at(-1) === "assistant: Once upon a time.", "the end");
        assert.deepEqual(lines(), ["user: Tell me a story", "assistant: Once upon a time."]);
      }
      await eventually(() => page.chat.status === "ready" && second.chat.status === "ready", "the pages to be ready");
      assert.equal(page.chat.error, undefined);
      assert.equal(second.chat.error, undefined);
    });
  });
}

describe("assistant-ui's react-ai-sdk", () => {
  let who;
  let page;
  let thread;

  beforeEach(async () => {
    who = person(stack.url);
    model.asked.length = 0;
    thread = undefined;
    function App() {
      const transport = new AssistantChatTransport({ api: "/api/ui/chat", fetch: who.fetch, body: { agent: "assistant" } });
      const runtime = useChatRuntime({ transport, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
      thread = runtime.thread;
      return h(AssistantRuntimeProvider, { runtime });
    }
    page = render(h(App));
    await eventually(() => thread, "the runtime");
  });

  afterEach(() => page.stop());

  const messages = () => thread.getState().messages;
  const said = () => messages().map((m) => m.content.filter((p) => p.type === "text").map((p) => p.text).join(""));

  /** Runs act and waits for the model's answer. */
  async function answered(answer, act) {
    model.says({ say: [answer] });
    act();
    await eventually(() => said().at(-1) === answer && !thread.getState().isRunning, answer);
  }
  const send = (words, answer) => answered(answer, () => thread.append({ role: "user", content: [{ type: "text", text: words }] }));
  const edit = (i, words, answer) =>
    answered(answer, () => {
      const { composer } = thread.getMessageByIndex(i);
      composer.beginEdit();
      composer.setText(words);
      composer.send();
    });

  it("an edited message replaces the original, without a messageId", async () => {
    await send("First question", "One.");
    await send("Second question", "Two.");
    const [, a1, u2, a2] = messages().map((m) => m.id);
    await edit(2, "Second question, edited", "Two, edited.");
    assert.deepEqual(said(), ["First question", "One.", "Second question, edited", "Two, edited."]);
    const body = who.sent.at(-1);
    assert.equal(body.messageId, undefined);
    assert.notEqual(body.messages.at(-1).id, u2);
    assert.match(model.asked[2], /First question.*One\..*Second question, edited/s);
    assert.doesNotMatch(model.asked[2], /Two/);
    assert.deepEqual((await who.branches())[a1], [a2, messages().at(-1).id]);
  });

  it("the first message can be edited too", async () => {
    await send("First question", "One.");
    const a1 = messages().at(-1).id;
    await edit(0, "First question, edited", "One, edited.");
    assert.doesNotMatch(model.asked[1], /One\./);
    assert.deepEqual((await who.branches()).root, [a1, messages().at(-1).id]);
  });

  it("another answer is another turn to the same message, without a messageId", async () => {
    await send("First question", "One.");
    await send("Second question", "Two.");
    const [, a1, , a2] = messages().map((m) => m.id);
    await answered("Two, again.", () => thread.getMessageByIndex(3).reload());
    assert.equal(who.sent.at(-1).messageId, undefined);
    assert.deepEqual(said(), ["First question", "One.", "Second question", "Two, again."]);
    assert.doesNotMatch(model.asked[2], /Two/);
    assert.deepEqual((await who.branches())[a1], [a2, messages().at(-1).id]);
    await answered("One, again.", () => thread.getMessageByIndex(1).reload());
    assert.equal((await who.branches()).root.length, 2);
  });

  it("a message follows the branch that the page shows", async () => {
    await send("First question", "One.");
    await send("I like tea", "Tea it is.");
    const tea = messages().at(-1).id;
    await edit(2, "I like coffee", "Coffee it is.");
    thread.getMessageByIndex(2).switchToBranch({ position: "previous" });
    await eventually(() => said().at(-1) === "Tea it is.", "the other branch");
    await send("What do I like?", "Tea.");
    assert.match(model.asked[3], /I like tea.*Tea it is\..*What do I like\?/s);
    assert.doesNotMatch(model.asked[3], /coffee/i);
    assert.deepEqual((await who.branches())[tea], [messages().at(-1).id]);
  });

  it("a tool approval continues the same message", async () => {
    model.says({ calls: [{ name: "list_documents" }, { name: "generate_image", args: { prompt: "a cat" } }] }, { say: ["All done."] });
    thread.append({ role: "user", content: [{ type: "text", text: "Draw a cat" }] });
    await eventually(() => messages().at(-1)?.status?.type === "requires-action", "the question");
    const { id } = messages().at(-1);
    const call = messages().at(-1).content.find((p) => p.toolName === "generate_image");
    assert.ok(call.approval.id);
    thread.getMessageByIndex(1).getMessagePartByToolCallId(call.toolCallId).respondToToolApproval({ approved: false, reason: "no cats" });
    await eventually(() => said().at(-1) === "All done." && !thread.getState().isRunning, "the rest of the turn");
    assert.equal(messages().length, 2);
    assert.equal(messages().at(-1).id, id);
    assert.equal(who.sent.length, 2);
  });
});
