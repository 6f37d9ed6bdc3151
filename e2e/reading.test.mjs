// Reading a conversation: nothing moves what is read but the reader, a part that
// cannot be fetched takes nothing else with it, words stand in their own
// direction, and what can be done is within reach on a phone.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { answer, answers, ask, composer, desktop, mention, newPage, phone, shot } from "./browser.mjs";
import { startSlowModel } from "./slow-model.mjs";
import { startStack } from "./stack.mjs";
import { browser, stack, useStack } from "./suite.mjs";
import { assertSoon, conversation, history, many, startWithTools, writing, yours } from "./thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const POLICY = "Remote Work and Customer Data Policy 2025";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

let page;
let context;
let faults;

useStack();

const open = async (url = stack.url, look = desktop) => {
  await context?.close();
  ({ page, context, faults } = await newPage(browser, url, look));
};

afterEach(async () => {
  assert.deepEqual(faults, []);
  await context.close();
  context = undefined;
});

/** What the browser and the page themselves note of a request that the test has made fail is no fault. */
const provoked = (words) => faults.splice(0, faults.length, ...faults.filter((f) => !words.test(f)));

describe("a part that cannot be fetched", () => {
  const failed = () => page.getByText("This part of the page could not be shown.");
  const withhold = (name) => page.route(`**/${name}-*.js`, (route) => route.abort());
  const stillHere = async () => {
    await failed().waitFor();
    await answer(page, 1);
    await composer(page).fill("Still here");
    await composer(page).getByText("Still here").waitFor();
    provoked(/ERR_FAILED|Failed to fetch dynamically|This part of the page failed/);
  };

  beforeEach(async () => {
    await open();
    await page.goto("/");
  });

  it("behind a citation says so beside the conversation", async () => {
    await withhold("PassagePanel");
    await ask(page, QUESTION);
    await (await answer(page, 1)).locator("[data-citation]").first().click();
    await page.getByRole("complementary").and(page.locator("aside", { has: failed() })).waitFor();
    await stillHere();
  });

  it("behind a document's pill says so beside the conversation", async () => {
    await withhold("Reader");
    await mention(page, "Summarize");
    await mention(page, POLICY);
    await composer(page).press("Enter");
    await answer(page, 1);
    await yours(page).getByRole("button", { name: POLICY }).click();
    await page.locator("aside", { has: failed() }).waitFor();
    await stillHere();
  });

  it("of a tool's card says so in the card", async () => {
    await withhold("ToolDetails");
    await pretend([told(1, "Look"), said(1, "Found.", [{ type: "tool-look", toolCallId: "c1", state: "output-available", input: {}, output: "it" }])]);
    const card = page.getByRole("region", { name: "Tool look" });
    await card.getByRole("button").click();
    await card.and(page.locator("section", { has: failed() })).waitFor();
    await stillHere();
  });

  it("for formatted words leaves them bare", async () => {
    await withhold("Markdown");
    await pretend([told(1, "Look"), said(1, "These are **bold** words.")]);
    await (await answer(page, 1)).getByText("These are **bold** words.").waitFor();
    provoked(/ERR_FAILED/);
  });
});

/** A thread as the server would give it, atOnce messages at a time, on any of its versions: lists of messages by the id of their end, the newest first. */
async function pretend(versions, branches = {}, atOnce = 40) {
  if (Array.isArray(versions)) versions = { "": versions };
  const newest = Object.values(versions)[0];
  const id = crypto.randomUUID();
  await page.route(`**/api/ui/chat/${id}?*`, (route) => {
    const { searchParams: asked } = new URL(route.request().url());
    const messages = asked.has("head") ? versions[asked.get("head")] : newest;
    const before = asked.get("before");
    const end = before ? messages.findIndex((m) => m.id === before) : messages.length;
    const from = Math.max(0, end - atOnce);
    return route.fulfill({ json: { id, messages: messages.slice(from, end), more: from > 0 } });
  });
  await page.route(`**/api/chat/history/${id}?*`, (route) =>
    route.fulfill({ json: { thread_id: id, messages: [{ turn_id: newest.at(-1).metadata.turn_id }], pending_interrupt: null, active_turn: null, branches } }),
  );
  await page.route(`**/api/chat/stream/${id}?*`, () => {}); // never answered: nothing happens elsewhere
  await page.route(`**/api/conversations/${id}`, (route) => route.fulfill({ json: { id, title: "Pretended", created_at: new Date().toISOString() } }));
  await page.goto(`/chat/${id}`);
}

const told = (turn, text) => ({ id: `${turn}.u`, role: "user", metadata: { turn_id: `${turn}` }, parts: [{ type: "text", text }] });
const said = (turn, text, more = []) => ({ id: `${turn}`, role: "assistant", metadata: { turn_id: `${turn}`, finished_reason: "stop" }, parts: [...more, { type: "text", text, state: "done" }] });
const exchanges = (name, from, to, words = 1) => {
  const out = [];
  for (let i = from; i < to; i++) out.push(told(`${name}${100 + i}`, `Question ${name} ${i}?`), said(`${name}${100 + i}`, `Answer ${name} ${i}. ${"Some words that fill a line. ".repeat(words)}`));
  return out;
};

describe("a reader who has gone up", () => {
  const LINES = Array.from({ length: 20 }, (_, i) => `Line ${i}.\n\n`);
  const TOP = 40;
  let model;
  let slow;

  before(async () => {
    model = await startSlowModel(LINES, 2);
    slow = await startStack({ LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "slow", LLM_FIRST_BYTE_TIMEOUT: "120s" });
  });
  after(async () => {
    await slow?.stop();
    await model?.stop();
  });

  const top = () => conversation(page).evaluate((el) => el.scrollTop);
  const left = () => conversation(page).evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);

  it("stays there when a message that waited begins and when one is sent elsewhere; one's own is shown", async () => {
    await open(slow.url);
    await page.goto("/");
    await startWithTools(page, "First");
    await answer(page, 1);
    model.hold = 1;
    await ask(page, "Second");
    await writing(page).getByText("Line 0.").waitFor();
    await composer(page).fill("Third");
    await composer(page).press("Control+Enter");
    const waits = page.getByRole("list", { name: "Waiting messages" }).getByText("Third");
    await waits.waitFor();
    await assertSoon(async () => (await history(page)).messages.some((m) => m.content === "Third"), "the server has the third");
    await conversation(page).evaluate((el, to) => (el.scrollTop = to), TOP);
    await page.getByRole("button", { name: "Go to the end" }).waitFor();
    model.hold = Infinity;
    await yours(page).filter({ hasText: "Third" }).waitFor({ state: "attached" });
    await many(answers(page), 3);
    assert.equal(await top(), TOP);

    const id = page.url().split("/").at(-1);
    const data = { id, agent: "assistant", message: { id: "m4", role: "user", parts: [{ type: "text", text: "Fourth" }] } };
    assert.ok((await page.request.post("/api/ui/chat", { data })).ok());
    await yours(page).filter({ hasText: "Fourth" }).waitFor({ state: "attached" });
    await many(answers(page), 4);
    assert.equal(await top(), TOP);

    await ask(page, "Fifth");
    await many(answers(page), 5);
    await assertSoon(async () => (await left()) < 80, "what was sent here is shown");
  });
});

describe("a version that is picked", () => {
  const shared = exchanges("s", 0, 30);
  // The newer has few messages after it, the older more than come at once, longer ones, and another first one.
  const newer = exchanges("b", 0, 8);
  const older = exchanges("a", 0, 40, 12);
  older[0].parts[0].text = "A question\n".repeat(6);
  const branches = { s129: ["a100", "b100"] };
  const follow = (list) => {
    const turns = list.filter((m) => m.role === "assistant").map((m) => m.id);
    turns.slice(1).forEach((turn, i) => (branches[turns[i]] = [turn]));
  };
  [shared, newer, older].forEach(follow);
  branches.root = ["s100"];

  const picker = () => page.getByRole("group", { name: "Versions" });
  const press = (name) => picker().getByRole("button", { name }).click();
  /** Where the picker stands, and where it stood when it was pressed. */
  const places = () => picker().evaluate((el) => [el.getBoundingClientRect().top, window.pressedAt]);
  const stays = () =>
    assertSoon(async () => {
      const [now, then] = await places();
      return Math.abs(now - then) <= 2;
    }, "the picker is where it was pressed");

  beforeEach(async () => {
    await open();
    await page.addInitScript(() => addEventListener("click", (e) => (window.pressedAt = e.target.closest("[data-versions]")?.getBoundingClientRect().top), true));
    await pretend({ b107: [...shared, ...newer], a139: [...shared, ...older] }, branches);
    await conversation(page).getByText("Answer b 7.").waitFor();
    // By the wheel, so that the list does not go back to its end.
    await conversation(page).hover();
    await page.mouse.wheel(0, -300);
    await page.getByRole("button", { name: "Go to the end" }).waitFor();
    await picker().hover();
  });

  it("stays where the picker was pressed, and so does the focus, whatever comes after it", async () => {
    await press("Earlier version");
    await picker().getByText("1/2").waitFor();
    await picker().getByRole("button", { name: "Later version" }).and(page.locator(":focus")).waitFor();
    await stays();
    await conversation(page).getByText("Answer a 0.").waitFor();
    await page.keyboard.press("Enter");
    await picker().getByText("2/2").waitFor();
    await picker().getByRole("button", { name: "Earlier version" }).and(page.locator(":focus")).waitFor();
    await stays();
    await shot(page, "67-picked");
  });

  it("leaves no message being edited that was not shown meanwhile", async () => {
    const mine = yours(page).filter({ hasText: "Question b 1?" });
    await mine.hover();
    await mine.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("textbox", { name: "Edited text" }).waitFor();
    await press("Earlier version");
    await picker().getByText("1/2").waitFor();
    await many(page.getByRole("form", { name: "Edit message" }), 0);
    await press("Later version");
    await picker().getByText("2/2").waitFor();
    await mine.waitFor();
    await many(page.getByRole("form", { name: "Edit message" }), 0);
  });
});

describe("a message of pictures alone", () => {
  it("can be edited", async () => {
    await open();
    await page.goto("/");
    await page.locator("form[aria-label=Message] input[type=file]").setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("list", { name: "Attachments" }).locator("img").waitFor();
    await page.getByRole("button", { name: /^Send/ }).click();
    const mine = yours(page);
    await mine.locator("img").waitFor();
    await assertSoon(async () => (await history(page)).active_turn?.status !== "running", "it was answered, or asks");
    const cancel = page.getByRole("button", { name: "Cancel", exact: true });
    const again = mine.getByRole("button", { name: "Edit message" }).and(page.locator(":enabled"));
    await again.or(cancel).first().waitFor();
    await again.click();
    await page.getByRole("textbox", { name: "Edited text" }).fill(QUESTION);
    await page.keyboard.press("Enter");
    await mine.getByText(QUESTION).waitFor();
    await mine.locator("img").waitFor();
    await assertSoon(async () => {
      const last = (await history(page)).messages.findLast((m) => m.role === "user");
      return last.content === QUESTION && last.metadata.attachments?.length === 1;
    }, "the server has the picture with the words");
  });
});

describe("words that run from right to left", () => {
  it("stand so, with their lists, quotes and tables; code does not", async () => {
    await open();
    const written = ["فقرة أولى.", "- بند\n- بند آخر", "> اقتباس", "> A quote", "| عمود | آخر |\n| --- | --- |\n| قيمة | أخرى |", "`code()` ثم كلمات", "```\nx = 1 // تعليق\n```", "English words."].join("\n\n");
    const source = { type: "source-document", sourceId: "s1", mediaType: "text/plain", title: "عنوان", providerMetadata: { palaver: { n: 1, quote: "اقتباس", doc_id: "d" } } };
    await pretend([told(1, "مرحبا, how are you?"), said(1, written, [source])]);
    const got = await answer(page, 1);
    await got.getByText("English words.").waitFor();
    await got.locator("table").waitFor();
    const direction = (locator) => locator.evaluate((el) => getComputedStyle(el).direction);
    for (const part of ["p:has-text('فقرة')", "ul", "blockquote", "table", "p:has-text('ثم')"]) assert.equal(await direction(got.locator(`.answer ${part}`).first()), "rtl", part);
    for (const part of ["pre", "pre code", "p code", "p:has-text('English')"]) assert.equal(await direction(got.locator(`.answer ${part}`).first()), "ltr", part);
    assert.equal(await direction(yours(page).locator("p").first()), "rtl");
    assert.equal(await direction(got.getByText("عنوان")), "rtl");
    const sides = (part, n = 0) =>
      got.locator(`.answer ${part}`).nth(n).evaluate((el) => {
        const { paddingLeft, paddingRight, borderLeft, borderRight } = getComputedStyle(el);
        return { left: [paddingLeft, borderLeft], right: [paddingRight, borderRight] };
      });
    const list = await sides("ul");
    assert.equal(list.left[0], "0px");
    assert.notEqual(list.right[0], "0px");
    const [arabic, english] = [await sides("blockquote"), await sides("blockquote", 1)];
    assert.match(english.left[1], /^3px/);
    assert.deepEqual(arabic.right, english.left);
    assert.equal(arabic.left[0], "0px");
    assert.match(arabic.left[1], /^0px/);
    await shot(page, "68-right-to-left");
  });
});

describe("on a phone", () => {
  it("a waiting message that was not sent can be sent again and taken back", async () => {
    const model = await startSlowModel(["Well, ", "then."], 5);
    const slow = await startStack({ LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "slow", LLM_FIRST_BYTE_TIMEOUT: "120s" });
    try {
      await open(slow.url, phone);
      await page.goto("/");
      await startWithTools(page, "First");
      await answer(page, 1);
      model.hold = 1;
      await ask(page, "Second");
      await writing(page).getByText("Well,").waitFor();
      await page.route("**/api/ui/chat", (route) => route.abort());
      await composer(page).fill("A third message that is long enough to be cut where it waits for the others");
      await composer(page).press("Control+Enter");
      const waiting = page.getByRole("list", { name: "Waiting messages" });
      await waiting.getByText("Not sent. The server cannot be reached.").waitFor();
      await shot(page, "69-phone-not-sent");
      for (const name of ["Send again", "Take back"]) {
        const { x, width } = await waiting.getByRole("button", { name }).boundingBox();
        assert.ok(x >= 0 && x + width <= 390, `${name} ends at ${x + width} px`);
      }
      await page.unroute("**/api/ui/chat");
      await waiting.getByRole("button", { name: "Send again" }).click();
      await waiting.getByText("Next").waitFor();
      provoked(/ERR_FAILED/);
      model.hold = Infinity;
      await answer(page, 3);
    } finally {
      await page.goto("about:blank"); // it would miss the server
      await slow.stop();
      await model.stop();
    }
  });

  it("code can be copied, which a mouse would have to point at first", async () => {
    await open(stack.url, phone);
    await pretend([told(1, "Code?"), said(1, "```\nx = 1\n```")]);
    const copy = page.getByRole("button", { name: "Copy code" });
    await copy.waitFor();
    assert.equal(await copy.evaluate((el) => getComputedStyle(el).opacity), "1");
  });
});
