// The composer's way of work: the choice of a model, how to answer, edits of queued messages,
// quotes of a selection, find in a chat, and temporary chats.
import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { answer, answers, ask, axe, composer, dark, expectRefusal, phone, send, shot, still } from "../browser.mjs";
import { arrive, context, faults, leaveNoFaults, model, page, stack, useSlowModel } from "../suite.mjs";
import { assertSoon, conversation, many, startWithTools, stop, writing, yours } from "../thread.mjs";

leaveNoFaults();

const PIECES = ["The notice period ", "is a month. ", "Notice is given in writing."];
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC", "base64");
useSlowModel(PIECES, 1, () => ({ CHAT_MODELS: "slow,thorough,gpt-3.5-turbo", ATTACHMENTS: "library" }));

beforeEach(() => Object.assign(model, { pieces: PIECES, hold: Infinity, calls: [] }));

const chosen = (what) => page.getByRole("button", { name: `Mode and model: ${what}` });
const posts = () => {
  const all = [];
  page.on("request", (r) => r.method() === "POST" && new URL(r.url()).pathname === "/api/ui/chat" && all.push(r.postDataJSON()));
  return all;
};
const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

for (const [look, name, mode] of [[undefined, "desktop", "Document answers"], [phone, "phone", "Documents"]]) {
  it(`a model is chosen for a conversation, on a ${name}`, async () => {
    await arrive(look);
    await page.goto("/");
    const sent = posts();
    await chosen(`${mode} · slow`).click();
    await page.getByRole("menuitemradio", { name: "thorough" }).waitFor();
    await still(page);
    await shot(page, `300-models-${name}`);
    assert.deepEqual(await axe(page), []);
    await page.getByRole("menuitemradio", { name: "thorough" }).click();
    await chosen(`${mode} · thorough`).waitFor();
    await ask(page, "Hello");
    await answer(page, 1);
    assert.equal(sent[0].model, "thorough");
    await page.reload();
    await chosen(`${mode} · thorough`).waitFor();
    await page.getByLabel("About this answer").click();
    await page.getByText("Answered by thorough").waitFor();
    await shot(page, `301-model-of-answer-${name}`);
    assert.ok(await fits());
  });
}

it("an attached picture is said to be unseen when the chosen model sees none", async () => {
  await arrive();
  await page.goto("/");
  await page.locator("form input[type=file]").setInputFiles({ name: "Lamp.png", mimeType: "image/png", buffer: PNG });
  await page.getByRole("img", { name: "Lamp.png" }).waitFor();
  const unseen = page.getByText("What is in pictures can't be used for answers here.");
  assert.equal(await unseen.count(), 0, "the default model may see it");
  const choose = async (from, to) => {
    await chosen(`Document answers · ${from}`).click();
    await page.getByRole("menuitemradio", { name: to }).click();
  };
  await choose("slow", "gpt-3.5-turbo");
  await unseen.waitFor();
  await choose("gpt-3.5-turbo", "thorough");
  await many(unseen, 0);
});

it("attachments are put into the library where that is the setting, and can be put into the chat", async () => {
  await arrive();
  await page.goto("/");
  const tray = page.getByRole("list", { name: "Attachments" });
  const library = () => page.evaluate(async () => (await fetch("/api/documents").then((r) => r.json())).items.filter((d) => !d.public).map((d) => d.title));
  await page.locator("form input[type=file]").setInputFiles({ name: "Okapi notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Okapi notes\n\nThe okapi is called Bahati.\n") });
  await tray.getByText("In your library").waitFor();
  assert.deepEqual(await library(), ["Okapi notes"]);
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", `Minutes of the harbour\n${"The keeper speaks at length. ".repeat(1_300)}`);
    document.querySelector(".composer-text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await tray.getByText("Kept as a document. In your library").waitFor();
  assert.deepEqual(await axe(page), []);
  await tray.getByRole("listitem").filter({ hasText: "Okapi notes" }).getByRole("button", { name: "Only in this chat" }).click();
  await tray.getByText("Only in this chat").first().waitFor();
  await assertSoon(async () => (await library()).join() === "Minutes of the harbour", "one is left in the library");
});

it("a person says how to answer", async () => {
  await arrive(phone);
  await page.goto("/");
  await page.getByRole("button", { name: "Chats", exact: true }).tap();
  await page.getByRole("button", { name: /Your data|Settings/ }).tap();
  await page.getByRole("menuitem", { name: "About you" }).tap();
  const field = page.getByLabel("How should Palaver answer?");
  await field.fill("In one sentence.");
  await page.getByText("16 of 1,500 characters").waitFor();
  await still(page);
  await shot(page, "302-how-to-answer-phone");
  assert.deepEqual(await axe(page), []);
  await page.getByRole("button", { name: "Save" }).tap();
  await page.getByText("Saved.").waitFor();
  assert.equal((await (await page.request.get("/api/me")).json()).instructions, "In one sentence.");
});

it("a queued message is edited in its place", async () => {
  await arrive();
  await page.goto("/");
  await startWithTools(page, "One");
  await answer(page, 1);
  model.hold = 1;
  await ask(page, "Two");
  await writing(page).waitFor();
  for (const text of ["Three", "Four"]) {
    await composer(page).fill(text);
    await composer(page).press("ControlOrMeta+Enter");
  }
  const queue = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
  await many(queue, 2);
  await assertSoon(async () => (await (await page.request.get(`/api/chat/history/${page.url().split("/").at(-1)}`)).json()).messages.filter((m) => m.role === "user").length === 4, "both are on the server");
  await queue.first().getByRole("button", { name: "Edit queued message" }).click();
  const edited = page.getByRole("form", { name: "Edit queued message" });
  await edited.getByRole("textbox").fill("Three, edited");
  await shot(page, "303-edit-queued");
  assert.deepEqual(await axe(page), []);
  await edited.getByRole("textbox").press("Enter");
  await queue.filter({ hasText: "Three, edited" }).waitFor();
  assert.deepEqual((await queue.allTextContents()).map((t) => t.slice(1)), ["Three, edited", "Four"]);
  model.hold = Infinity;
  await answer(page, 4);
  await many(yours(page), 4);
  assert.deepEqual(await yours(page).locator("p").allTextContents(), ["One", "Two", "Three, edited", "Four"]);
  assert.equal(await stop(page).count(), 0);
});

it("a selection of an answer is quoted in the next message, by pointer and by keyboard", async () => {
  await arrive();
  await page.goto("/");
  await startWithTools(page, "How long is it?");
  const said = await answer(page, 1);
  const select = () => said.getByText("The notice period").evaluate((el) => document.getSelection().selectAllChildren(el));
  const quote = page.getByRole("button", { name: "Quote", exact: true });
  // The renderer of Markdown may be loaded after the answer, and replaces what is selected.
  await assertSoon(async () => (await select(), await quote.isVisible()), "the selection can be quoted");
  await shot(page, "304-quote");
  assert.deepEqual(await axe(page), []);
  await quote.click();
  assert.equal(await composer(page).evaluate((el) => document.activeElement === el), true);
  await page.keyboard.type("Since when?");
  await send(page);
  await many(yours(page), 2);
  assert.equal(await yours(page).last().locator("p").textContent(), "> The notice period is a month. Notice is given in writing.\nSince when?");
  await answer(page, 2);
  await select();
  await page.keyboard.press("Control+Shift+L");
  await assertSoon(async () => (await composer(page).textContent()).startsWith("> The notice period"), "the composer has the quote");
});

it("words are found in a conversation, also where it is not rendered", async () => {
  await arrive(dark);
  await page.goto("/");
  await startWithTools(page, "A needle at the beginning");
  await answer(page, 1);
  model.pieces = ["Long answer. ".repeat(150)];
  for (let n = 2; n <= 26; n++) {
    await ask(page, `Question ${n}`);
    await answer(page, Math.min(n, 10));
    await assertSoon(async () => (await stop(page).count()) === 0, `answer ${n} is complete`);
  }
  await ask(page, "And a needle at the end");
  await assertSoon(async () => (await stop(page).count()) === 0, "the last answer is complete");
  await page.reload();
  await answers(page).last().waitFor();
  assert.ok((await page.locator("[data-message]").count()) < 40, "not all of the 54 messages are rendered");
  await page.keyboard.press("Control+f");
  const bar = page.getByRole("search", { name: "Find in this chat" });
  const field = bar.getByRole("searchbox");
  await field.fill("needle");
  await bar.getByRole("status").getByText("2 of 2").waitFor();
  await shot(page, "305-find");
  assert.deepEqual(await axe(page), []);
  await field.press("Enter");
  await bar.getByRole("status").getByText("1 of 2").waitFor();
  const first = yours(page).filter({ hasText: "A needle at the beginning" });
  await first.waitFor();
  await assertSoon(() => first.evaluate((el) => { const r = el.getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight; }), "the first message is in view");
  await shot(page, "306-find-first");
  assert.equal(await page.evaluate(() => CSS.highlights.get("find-current").size), 1);
  await field.press("Shift+Enter");
  await bar.getByRole("status").getByText("2 of 2").waitFor();
  await field.press("Escape");
  await bar.waitFor({ state: "detached" });
  await assertSoon(() => composer(page).evaluate((el) => document.activeElement === el), "the composer has the focus");
});

it("find opens closed details, and shows a diagram as text, where they have the words", async () => {
  model.pieces = ["Here.\n\n<details>\n<summary>More</summary>\n\nThe lantern is lit.\n\n</details>\n\n```mermaid\ngraph TD\n  A[Lantern] --> B[Ship]\n```\n\nEnd."];
  await arrive();
  await page.goto("/");
  await startWithTools(page, "Draw it");
  const said = await answer(page, 1);
  await said.getByRole("img", { name: "Diagram" }).waitFor();
  await page.keyboard.press("Control+f");
  const bar = page.getByRole("search", { name: "Find in this chat" });
  await bar.getByRole("searchbox").fill("lantern");
  await bar.getByRole("status").getByText("2 of 2").waitFor();
  await said.getByText("A[Lantern] --> B[Ship]").waitFor();
  const marked = () => page.evaluate(() => [...CSS.highlights.get("find-current")].map((range) => range.toString()).join());
  await assertSoon(async () => (await marked()) === "Lantern", "the word of the diagram is marked");
  assert.equal(await said.getByText("The lantern is lit.").isVisible(), false);
  await bar.getByRole("searchbox").press("Enter");
  await bar.getByRole("status").getByText("1 of 2").waitFor();
  await said.getByText("The lantern is lit.").waitFor();
  await assertSoon(async () => (await marked()) === "lantern", "the word of the details is marked");
});

it("find fits a phone, and is opened from the menu", async () => {
  await arrive(phone);
  await page.goto("/");
  await startWithTools(page, "How long is it?");
  await answer(page, 1);
  await page.getByRole("button", { name: "Chat options" }).tap();
  await page.getByRole("menuitem", { name: "Find in this chat" }).tap();
  await page.getByRole("searchbox", { name: "Find in this chat" }).fill("notice");
  await page.getByText("2 of 2").waitFor();
  await shot(page, "307-find-phone");
  assert.ok(await fits());
  assert.deepEqual(await axe(page), []);
});

for (const [look, name] of [[undefined, "desktop"], [phone, "phone"]]) {
  it(`a temporary chat is in no list and is deleted when it is left, on a ${name}`, async () => {
    await arrive(look);
    await page.goto("/");
    await page.getByRole("button", { name: "Temporary chat" }).click();
    await page.getByText("Not in your list of chats.").waitFor();
    await still(page);
    await shot(page, `308-temporary-${name}`);
    assert.deepEqual(await axe(page), []);
    await ask(page, "Hello");
    await answer(page, 1);
    await page.getByRole("heading", { name: "Temporary chat" }).waitFor();
    const id = page.url().split("/").at(-1);
    const there = async () => (await page.request.get(`/api/conversations/${id}`)).status();
    await page.reload();
    await answer(page, 1);
    await still(page);
    await shot(page, `309-temporary-answer-${name}`);
    assert.deepEqual(await axe(page), []);
    assert.equal(await there(), 200);
    assert.deepEqual((await (await page.request.get("/api/conversations")).json()).items, []);
    expectRefusal(faults, 404);
    await page.getByRole("button", { name: "New chat" }).click();
    await assertSoon(async () => (await there()) === 404, "the chat is deleted");
    await page.goBack();
    await page.getByText("Chat not found.").waitFor();
    assert.ok((await conversation(page).count()) === 0);
  });
}

it("a temporary chat of a closed tab is deleted by the next tab, one of an open tab is not", async () => {
  await arrive();
  await page.goto("/");
  await page.getByRole("button", { name: "Temporary chat" }).click();
  await ask(page, "Hello");
  await answer(page, 1);
  const id = page.url().split("/").at(-1);
  const there = async () => (await context.request.get(`${stack.url}/api/conversations/${id}`)).status();
  const other = await context.newPage();
  await other.goto(`${stack.url}/`);
  await composer(other).waitFor();
  assert.equal(await there(), 200);
  await page.close();
  await other.reload();
  await assertSoon(async () => (await there()) === 404, "it is deleted");
});
