// Pinned and archived conversations, several at once, shared links and feedback.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, axe, composer, dark, desktop, expectRefusal, newPage, phone, send, shot } from "./browser.mjs";
import { arrive, browser, context, faults, leaveNoFaults, page, stack, useStack } from "./suite.mjs";
import { assertSoon, many } from "./thread.mjs";

useStack();
beforeEach(async () => {
  await arrive();
  await page.goto("/");
});
leaveNoFaults();

const list = () => page.getByRole("navigation", { name: "Chats" });
const link = (title) => list().getByRole("link", { name: new RegExp(`^${title}`) });
const titles = () => list().getByRole("link").evaluateAll((all) => all.map((a) => a.title));
const order = (...want) => assertSoon(async () => JSON.stringify(await titles()) === JSON.stringify(want), `the order ${want}`);

/** Makes conversations, the last is the newest. */
async function make(...names) {
  for (const title of names) assert.ok((await page.request.post("/api/conversations", { data: { title } })).ok());
  await page.reload();
  await link(names[0]).waitFor();
}

async function fromMenu(title, item) {
  await link(title).hover();
  await page.getByRole("button", { name: `Options for ${title}` }).click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

describe("marks", () => {
  it("a pinned conversation is first, and stays so after a reload", async () => {
    await make("Apples", "Pears", "Plums");
    await order("Plums", "Pears", "Apples");
    await fromMenu("Apples", "Pin");
    await order("Apples", "Plums", "Pears");
    await list().getByRole("heading", { name: "Pinned" }).waitFor();
    await page.reload();
    await order("Apples", "Plums", "Pears");
    await shot(page, "conversations-pinned");
    assert.deepEqual(await axe(page), []);
    await fromMenu("Apples", "Unpin");
    await order("Plums", "Pears", "Apples");
  });

  it("are as before when archiving is undone", async () => {
    await make("Apples", "Pears");
    await fromMenu("Apples", "Pin");
    await order("Apples", "Pears");
    await fromMenu("Apples", "Archive");
    await order("Pears");
    await page.getByRole("button", { name: "Undo" }).click();
    await order("Apples", "Pears");
    await list().getByRole("heading", { name: "Pinned" }).waitFor();
  });

  it("a conversation that one tab deletes is left in another, until that is undone", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await answer(other, 1);
    const title = "How many days a week may employees work remotely?";
    await fromMenu(title, "Delete");
    await other.waitForURL(`${stack.url}/`);
    await other.getByText("This chat was deleted.").waitFor();
    await many(other.getByRole("navigation", { name: "Chats" }).getByRole("link"), 0);
    await page.getByRole("button", { name: "Undo" }).click();
    await other.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: title }).click();
    await answer(other, 1);
    await other.close();
  });

  it("an archived conversation is in a list of its own, a search finds it, and a message brings it back", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await make("Pears");
    const title = "How many days a week may employees work remotely?";
    await link("How many days").hover();
    await page.getByRole("button", { name: `Options for ${title}` }).click();
    await page.getByRole("menuitem", { name: "Archive", exact: true }).click();
    await order("Pears");
    await page.getByText(`was archived.`).waitFor();
    await page.getByRole("button", { name: "Show archived chats" }).click();
    await order(title);
    await shot(page, "conversations-archived");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Show archived chats" }).click();
    await page.getByRole("searchbox", { name: "Search chats" }).fill("remotely");
    await link("How many days").getByText("Archived").waitFor();
    await link("How many days").click();
    await answers(page).first().waitFor();
    await ask(page, "Who may work remotely?");
    await answer(page, 2);
    await page.getByRole("searchbox", { name: "Search chats" }).fill("");
    await order(title, "Pears");
  });
});

describe("several conversations", () => {
  const box = (title) => page.getByRole("checkbox", { name: `Select ${title}` });

  it("are selected with Shift and deleted after one question, with one notice, and can come back", async () => {
    await make("One", "Two", "Three", "Four");
    await page.getByRole("button", { name: "Select chats" }).click();
    await box("Four").click();
    await box("Two").click({ modifiers: ["Shift"] });
    await page.getByText("3 selected").waitFor();
    await shot(page, "conversations-selected");
    assert.deepEqual(await axe(page), []);
    const tools = page.getByRole("toolbar", { name: "Selected chats" });
    await tools.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete 3 chats?" });
    assert.deepEqual(await axe(page), []);
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await order("One");
    await page.getByText("3 chats were deleted.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await order("Four", "Three", "Two", "One");

    await page.getByRole("button", { name: "Select chats" }).click();
    await box("Four").click();
    await box("Three").click();
    await tools.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("2 chats were deleted.").waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await assertSoon(async () => (await (await page.request.get("/api/conversations")).json()).items.length === 2, "both are deleted");
  });

  it("are archived by keyboard", async () => {
    await make("One", "Two", "Three");
    await page.getByRole("button", { name: "Select chats" }).focus();
    await page.keyboard.press("Enter");
    await box("Three").focus();
    await page.keyboard.press("Space");
    await box("Two").focus();
    await page.keyboard.press("Space");
    await page.getByText("2 selected").waitFor();
    await page.getByRole("toolbar").getByRole("button", { name: "Archive" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("2 chats were archived.").waitFor();
    await order("One");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Select chats");
    await page.keyboard.press("Enter");
    await box("One").focus();
    await page.keyboard.press("Escape");
    await many(page.getByRole("checkbox"), 0);
  });
});

describe("the open chat", () => {
  const QUESTION = "How many days a week may employees work remotely?";
  const more = () => page.getByRole("button", { name: "Chat options" });
  const item = (name) => page.getByRole("menuitem", { name, exact: true });

  it("shows the actions of the last answer without pointing at it", async () => {
    await ask(page, QUESTION);
    await answer(page, 1);
    await ask(page, "Who approves remote work from abroad?");
    await answer(page, 2);
    await page.mouse.move(1, 1);
    const seen = (n) => answers(page).nth(n).getByRole("button", { name: "Copy answer" }).evaluate((el) => getComputedStyle(el.parentElement).opacity);
    await assertSoon(async () => (await seen(0)) === "0" && (await seen(1)) === "1", "only those of the last answer");
    await shot(page, "chat-last-actions");
  });

  it("has a menu beside its title: rename, pin, share, export, print, archive", async () => {
    await ask(page, QUESTION);
    await answer(page, 1);
    await more().click();
    assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["Rename", "Pin", "Share", "Export as Markdown", "Print", "Archive", "Delete"]);
    await shot(page, "chat-menu");
    assert.deepEqual(await axe(page), []);
    await item("Pin").click();
    await list().getByRole("heading", { name: "Pinned" }).waitFor();

    await more().focus(); // the keyboard alone
    await page.keyboard.press("Enter");
    await item("Rename").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Title" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.type("Days at home");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Days at home" }).waitFor();
    await more().and(page.locator(":focus")).waitFor();
    await link("Days at home").waitFor();

    await more().click();
    await item("Share").click();
    await page.getByRole("dialog", { name: "Share this chat" }).waitFor();
    await page.keyboard.press("Escape");
    const saved = page.waitForEvent("download");
    await more().click();
    await item("Export as Markdown").click();
    assert.equal((await saved).suggestedFilename(), "Days at home.md");
    await more().click();
    await item("Archive").click();
    await page.getByText("“Days at home” was archived.").waitFor();
    await many(link("Days at home"), 0);
  });

  for (const [name, look] of Object.entries({ dark, phone })) {
    it(`has the menu also ${name === "phone" ? "on a phone, with the search" : "in dark colours"}`, async () => {
      await arrive(look);
      await page.goto("/");
      await composer(page).fill(QUESTION);
      await send(page);
      await answer(page, 1);
      await more().click();
      await item("Rename").waitFor();
      await many(item("Find in this chat"), name === "phone" ? 1 : 0);
      await shot(page, `chat-menu-${name}`);
      assert.deepEqual(await axe(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    });
  }
});

describe("a shared link", () => {
  const title = "How many days a week may employees work remotely?";

  async function share() {
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: stack.url });
    await ask(page, title);
    await answer(page, 1);
    await link("How many").hover();
    await page.getByRole("button", { name: `Options for ${title}` }).click();
    await page.getByRole("menuitem", { name: "Share" }).click();
    const dialog = page.getByRole("dialog", { name: "Share this chat" });
    await dialog.getByText("There are no links to this chat.").waitFor();
    await dialog.getByRole("button", { name: "Create link" }).click();
    const url = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    await dialog.getByRole("button", { name: /^Revoke the link/ }).waitFor();
    await dialog.getByText("The link is ready and copied. It isn't shown again.").waitFor();
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    assert.equal(await clipboard(), url);
    await page.evaluate(() => navigator.clipboard.writeText("something else"));
    await dialog.getByRole("button", { name: "Copy link" }).click();
    await dialog.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await clipboard(), url);
    return { dialog, url };
  }

  it("is copied, and shows a copy to anybody, without a cookie, until it is revoked", async () => {
    const { dialog, url } = await share();
    await shot(page, "share-dialog");
    assert.deepEqual(await axe(page), []);
    for (const [name, look] of [["light", desktop], ["dark", dark], ["phone", phone]]) {
      const other = await newPage(browser, stack.url, look);
      const asked = [];
      other.page.on("request", (r) => r.url().includes("/api/") && asked.push(new URL(r.url()).pathname));
      const res = await other.page.goto(url);
      assert.equal(res.headers()["x-robots-tag"], "noindex, nofollow");
      await other.page.getByRole("heading", { level: 1, name: title }).waitFor();
      await other.page.getByRole("article", { name: "Palaver" }).waitFor();
      await many(other.page.getByRole("textbox"), 0);
      assert.deepEqual(asked.map((p) => p.replace(/[A-Za-z0-9]{40,}/, "TOKEN")), ["/api/shared/TOKEN"]);
      assert.deepEqual(await other.context.cookies(), []);
      await other.page.getByText(/^Sources:/).click();
      await shot(other.page, `shared-${name}`);
      assert.deepEqual(await axe(other.page), [], name);
      assert.deepEqual(other.faults, []);
      await other.context.close();
    }
    await dialog.getByRole("button", { name: /^Revoke the link/ }).click();
    await dialog.getByText("There are no links to this chat.").waitFor();
    expectRefusal(faults, 404);
    await page.goto(url);
    await page.getByText("This link doesn't work.").waitFor();
  });
});

describe("feedback", () => {
  it("is given, explained, kept over a reload and taken back", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    const up = answers(page).first().getByRole("button", { name: "Good answer" });
    const down = answers(page).first().getByRole("button", { name: "Bad answer" });
    await down.click();
    const why = page.getByRole("textbox", { name: "What was wrong? (optional)" });
    await why.fill("It leaves out managers.");
    await shot(page, "feedback");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Send", exact: true }).first().click();
    await page.getByText("Thank you for your feedback.").waitFor();
    await page.reload();
    await answers(page).first().waitFor();
    await page.locator("button[aria-pressed=true][aria-label='Bad answer']").waitFor({ state: "attached" });
    const id = page.url().split("/").at(-1);
    const stored = async () => (await (await page.request.get(`/api/conversations/${id}/feedback`)).json()).items.map((f) => [f.rating, f.reason]);
    assert.deepEqual(await stored(), [["down", "It leaves out managers."]]);
    await up.click();
    await page.getByRole("textbox", { name: "What was good? (optional)" }).press("Escape");
    await assertSoon(async () => JSON.stringify(await stored()) === '[["up",null]]', "the other rating");
    await up.click();
    await assertSoon(async () => (await stored()).length === 0, "no rating");
  });
});
