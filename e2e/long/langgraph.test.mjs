// A LangGraph client, assistant-ui's external-store runtime, in a real browser
// against the running product.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { newPage, shot, startBrowser } from "../browser.mjs";
import { startSlowModel } from "../slow-model.mjs";
import { startStack } from "../stack.mjs";
import { startPage } from "../langgraph/serve.mjs";

// A picture of one pixel.
const DOT = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const STREAM_MS = 60_000;

let stack;
let server;
let browser;

before(async () => {
  [stack, browser] = await Promise.all([startStack(), startBrowser()]);
  server = await startPage(stack.url);
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await stack?.stop();
});

describe("assistant-ui over the LangGraph dialect", () => {
  let page;
  let context;
  let faults;
  let thread;
  let uuid; // of the thread
  let requests;

  beforeEach(async () => {
    ({ page, context, faults } = await newPage(browser, server.url));
    requests = [];
    page.on("request", (r) => r.url().includes("/api/v1/chat/") && r.method() === "POST" && requests.push(r.postDataJSON()));
    page.on("response", (r) => (uuid = r.headers()["x-thread-id"] ?? uuid));
    thread = `thread-${randomUUID()}`;
    await page.goto(`/chat/${thread}`);
    // Only the first request may set the cookie: a concurrent one would get another.
    await page.getByRole("textbox", { name: "Text", exact: true }).waitFor();
  });

  afterEach(async () => {
    await context.close();
    assert.deepEqual(faults, []);
  });

  const yours = () => page.getByRole("article", { name: "You" });
  const answers = () => page.getByRole("article", { name: "Assistant" });
  const tool = () => page.getByRole("region", { name: "Tool generate_image" });
  const approve = () => tool().getByRole("button", { name: "Approve" });
  const send = () => page.getByRole("button", { name: "Send" });

  /** Sends a message and waits until its turn has ended or asks. */
  async function say(text) {
    const saved = stored();
    await page.getByRole("textbox", { name: "Text", exact: true }).fill(text);
    await send().click();
    await saved;
  }

  /** Resolves when the page has stored its messages, which it does after each stream. */
  const stored = () => page.waitForResponse((r) => r.url().endsWith("/repo") && r.request().method() === "PUT" && r.ok(), { timeout: STREAM_MS });

  async function press(button) {
    const saved = stored();
    await button.click();
    await saved;
  }

  /** The message at the end of the branch that the page shows. */
  const head = ({ headId, messages }) => messages.find(({ message }) => message.id === headId).message;

  /** The user messages on the server's current branch. */
  async function said() {
    const history = await (await context.request.get(`/api/chat/history/${uuid}`)).json();
    return history.messages.filter((m) => m.role === "user").map((m) => m.content);
  }

  const repo = async () => (await (await context.request.get(`/api/v1/threads/${thread}/repo`)).json()).repo;
  const interrupted = async () => (await (await context.request.get(`/api/v1/chat/interrupt?thread_id=${thread}`)).json()).interrupted;

  /** Waits for a picture that the browser has loaded. */
  async function picture() {
    const image = tool().getByRole("img");
    await image.waitFor();
    await page.waitForFunction((img) => img.complete && img.naturalWidth > 0, await image.elementHandle());
    return image;
  }

  it("streams an answer and keeps it after a reload", async () => {
    await say("Hello there");
    const told = await answers().first().textContent();
    assert.ok(told.length > 0);
    assert.equal(requests[0].checkpoint_id, null);
    const kept = await repo();
    assert.equal(kept.messages.length, 2);
    assert.ok(kept.messages[1].message.metadata.custom.lg.checkpoint_id);
    await page.reload();
    await answers().first().waitFor();
    assert.equal(await answers().first().textContent(), told);
    assert.equal(await yours().count(), 1);
    await say("And again");
    assert.equal(requests[1].checkpoint_id, kept.messages[1].message.metadata.custom.lg.checkpoint_id);
    assert.equal(await answers().count(), 2);
  });

  it("asks for approval before it draws, and draws after it", async () => {
    await say("draw a cat in a hat");
    await approve().waitFor();
    assert.equal(await tool().getByRole("img").count(), 0);
    assert.equal(await interrupted(), true);
    await shot(page, "40-langgraph-approval");
    await press(approve());
    await picture();
    assert.equal(await approve().count(), 0);
    assert.equal(await interrupted(), false);
    assert.equal(await answers().count(), 1);
    await shot(page, "41-langgraph-approved");
  });

  it("does not draw a rejected picture, and says so", async () => {
    await say("draw a cat in a hat");
    await press(tool().getByRole("button", { name: "Reject" }));
    assert.equal(await tool().getByRole("img").count(), 0);
    assert.ok((await tool().getByRole("status").textContent()).length > 0);
    assert.equal(await interrupted(), false);
    await say("Hello there");
    assert.equal(await answers().count(), 2);
  });

  it("draws with the edited arguments", async () => {
    await say("draw a cat in a hat");
    await tool().getByRole("textbox", { name: "Arguments" }).fill(JSON.stringify({ prompt: "a walrus on ice" }));
    await press(approve());
    await picture();
    assert.match(await tool().getByRole("status").textContent(), /walrus on ice/);
    assert.doesNotMatch(await tool().getByRole("status").textContent(), /cat in a hat/);
  });

  it("waits for both decisions before it draws either of two pictures", async () => {
    await say("draw a cat and draw a dog");
    const [cat, dog] = [tool().nth(0), tool().nth(1)];
    await dog.getByRole("button", { name: "Approve" }).waitFor();
    await cat.getByRole("button", { name: "Reject" }).click();
    await cat.getByRole("button", { name: "Reject" }).waitFor({ state: "detached" });
    assert.equal(await interrupted(), true);
    await press(dog.getByRole("button", { name: "Approve" }));
    await dog.getByRole("img").waitFor();
    assert.equal(await cat.getByRole("img").count(), 0);
  });

  it("still asks after a reload, and continues from there", async () => {
    await say("draw a cat in a hat");
    await approve().waitFor();
    await page.reload();
    await approve().waitFor();
    assert.equal(await yours().count(), 1);
    await shot(page, "42-langgraph-approval-after-reload");
    await press(approve());
    await picture();
    await page.reload();
    await picture();
    assert.equal(await approve().count(), 0);
    assert.equal(await answers().count(), 1);
  });

  it("answers a question that was asked in another client", async () => {
    const { id } = await (await context.request.post("/api/documents", { data: { title: "House rules", text: "Guests leave by ten. Shoes stay at the door." } })).json();
    await page.waitForFunction(async (path) => (await (await fetch(path)).json()).status === "ready", `/api/documents/${id}`);
    await context.request.post("/api/v1/chat/stream", {
      data: { thread_id: thread, agent: "documents", tagged_doc_ids: [id], message: { role: "human", content: "Summarize and audit this document" } },
    });
    await page.reload();
    await press(page.getByRole("region", { name: "Question" }).getByRole("button", { name: "Summarize" }));
    await answers().first().getByText("Guests leave by ten").waitFor();
    assert.equal(await page.getByRole("region", { name: "Question" }).count(), 0);
  });

  it("makes a branch of an edited message, and continues the branch that is shown", async () => {
    await say("My name is Ada");
    await say("I like tea");
    await yours().nth(1).getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Edited text" }).fill("I like coffee");
    await press(page.getByRole("button", { name: "Save" }));
    assert.equal(requests[2].checkpoint_id, requests[1].checkpoint_id, "both follow the first answer");
    await yours().nth(1).getByText("2 of 2").waitFor();
    await shot(page, "43-langgraph-branches");
    await press(yours().nth(1).getByRole("button", { name: "Previous" }));
    await yours().nth(1).getByText("I like tea").waitFor();
    const tea = head(await repo());
    await say("What do I like?");
    assert.equal(requests[3].checkpoint_id, tea.metadata.custom.lg.checkpoint_id);
    assert.deepEqual(await said(), ["My name is Ada", "I like tea", "What do I like?"]);
    await page.reload();
    await yours().nth(2).waitFor();
    await yours().nth(1).getByText("1 of 2").waitFor();
    await press(yours().nth(1).getByRole("button", { name: "Next" }));
    await yours().nth(1).getByText("I like coffee").waitFor();
    assert.equal(await yours().count(), 2);
  });

  it("regenerates an answer next to the first one", async () => {
    await say("My name is Ada");
    await say("Hello there");
    await press(answers().nth(1).getByRole("button", { name: "Again" }));
    assert.deepEqual(requests[2], requests[1]);
    await answers().nth(1).getByText("2 of 2").waitFor();
    await page.reload();
    await answers().nth(1).getByText("2 of 2").waitFor();
    await press(answers().nth(1).getByRole("button", { name: "Previous" }));
    await answers().nth(1).getByText("1 of 2").waitFor();
  });

  it("begins at the root when the first message is edited", async () => {
    await say("My name is Ada");
    await yours().first().getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Edited text" }).fill("My name is Grace");
    await press(page.getByRole("button", { name: "Save" }));
    assert.equal(requests[1].checkpoint_id, "root");
    assert.deepEqual(await said(), ["My name is Grace"]);
  });

  it("drops a question when its message is edited", async () => {
    await say("draw a cat in a hat");
    await approve().waitFor();
    const asked = head(await repo()).metadata.custom.lg.checkpoint_id;
    await yours().first().getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Edited text" }).fill("Hello there");
    await press(page.getByRole("button", { name: "Save" }));
    assert.equal(await approve().count(), 0);
    assert.equal(await interrupted(), false);
    const late = await context.request.post("/api/v1/chat/feedback", {
      data: { thread_id: thread, checkpoint_id: asked, approval_data: { type: "tool_approval", decisions: [{ id: "any", decision: "approved" }] } },
    });
    assert.equal(late.status(), 400);
  });

  it("sends a picture along", async () => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach" }).click();
    await (await chooser).setFiles({ name: "dot.png", mimeType: "image/png", buffer: DOT });
    await page.getByText("dot.png").waitFor();
    await say("What is this?");
    const [text, image] = requests[0].message.content;
    assert.equal(text.text, "What is this?");
    assert.match(image.image, /^chatbot:\/\//);
    await yours().first().getByText("dot.png").waitFor();
    const served = await context.request.get(`/api/attachments/${image.image.slice("chatbot://".length)}`);
    assert.equal(served.headers()["content-type"], "image/png");
    assert.deepEqual(await served.body(), DOT);
  });
});

describe("assistant-ui while a slow model writes", () => {
  const words = Array.from({ length: 30 }, (_, i) => `Word${i} `);
  let model;
  let slow;
  let slowPage;

  before(async () => {
    model = await startSlowModel(words, 150);
    slow = await startStack(model.settings);
    slowPage = await startPage(slow.url);
  });

  after(async () => {
    await slowPage?.stop();
    await slow?.stop();
    await model?.stop();
  });

  it("streams each word once, and all words at the end", async () => {
    const { page, context, faults } = await newPage(browser, slowPage.url);
    await page.addInitScript(() => {
      window.seen = [];
      new MutationObserver(() => {
        const text = document.querySelector("article[aria-label=Assistant]")?.textContent.match(/Word\d+/g)?.join(" ") ?? "";
        if (text !== (window.seen.at(-1) ?? "")) window.seen.push(text);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    await page.goto(`/chat/thread-${randomUUID()}`);
    await page.getByRole("textbox", { name: "Text", exact: true }).fill("Tell me a story");
    await page.getByRole("button", { name: "Send" }).click();
    const last = words.at(-1).trim();
    await page.getByRole("article", { name: "Assistant" }).getByText(last).waitFor({ timeout: STREAM_MS });
    const seen = await page.evaluate(() => window.seen);
    assert.ok(seen.length > 2, `only ${seen.length} pieces`);
    for (const [i, text] of seen.entries()) assert.ok(text.startsWith(seen[i - 1] ?? ""), `${text} does not go on from ${seen[i - 1]}`);
    assert.equal(seen.at(-1), words.join("").trim());
    await context.close();
    assert.deepEqual(faults, []);
  });
});
