// Spaces: two people of a real OpenID Connect provider share documents and a conversation,
// and one of them is removed while an answer is written.
import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import { answer, ask, axe, composer, dark, desktop, documents, expectRefusal, newPage, openDocuments, ready, screenshot, shot, upload } from "./browser.mjs";
import { startOIDC } from "./oidc.mjs";
import { freePort } from "./stack.mjs";
import { browser, model, stack, useSlowModel } from "./suite.mjs";
import { assertSoon, writing, yours } from "./thread.mjs";

const PIECES = ["The clock ", "is wound ", "at seven ", "[1]."];
const TEXT = "# Lighthouse notes\n\nThe lighthouse keeper winds the clock every evening at seven. Visitors are welcome on Sundays.\n";
const QUESTION = "When does the lighthouse keeper wind the clock?";
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

let oidc;
useSlowModel(PIECES, 5, async () => {
  oidc = await startOIDC(`http://127.0.0.1:${await freePort()}`);
  return oidc.settings;
});
after(() => oidc?.stop());

const open = []; // the pages of a test

/** Opens a page for somebody who signs in. */
async function arriveAs(login, look = desktop) {
  Object.assign(oidc, { login, groups: ["staff"] });
  const { page, context, faults } = await newPage(browser, stack.url, look);
  open.push({ page, context, faults, login });
  expectElsewhere(faults);
  await page.goto("/");
  if (look.viewport.width < 768) await page.getByRole("button", { name: "Chats", exact: true }).click();
  await page.getByRole("button", { name: "Sign in", exact: true }).first().click();
  await page.getByRole("button", { name: /^Continue with 127\.0\.0\.1/ }).click();
  await page.getByRole("link", { name: "Allow" }).click();
  await page.waitForURL(`${stack.url}/**`);
  await page.waitForFunction(() => localStorage.getItem("palaver.session"));
  await composer(page).waitFor();
  return { page, faults };
}

/** Going to the provider is a request to another host, and meant. */
function expectElsewhere(faults) {
  const keep = faults.push.bind(faults);
  Object.defineProperty(faults, "push", { value: (fault) => (fault.includes(oidc.url) ? faults.length : keep(fault)), configurable: true });
}

/** Sends a request of the API as somebody. */
async function api(login, method, path, body, headers = {}) {
  Object.assign(oidc, { login, groups: ["staff"] });
  const res = await fetch(stack.url + path, { method, headers: { Authorization: `Bearer ${await oidc.token()}`, "Content-Type": "application/json", ...headers }, ...(body && { body: JSON.stringify(body) }) });
  assert.ok(res.ok, `${method} ${path}: ${res.status}`);
  return res.status === 204 ? null : res.json();
}

/** Makes a space of ann with a document. */
async function makeSpace(name, members = {}) {
  const { id } = await api("ann", "POST", "/api/spaces", { name });
  const doc = await api("ann", "POST", "/api/documents", { title: "Lighthouse notes", text: TEXT }, { "X-Space-Id": id });
  await assertSoon(async () => (await api("ann", "GET", `/api/documents/${doc.id}`, null, { "X-Space-Id": id })).status === "ready", "the document is ready");
  for (const [login, role] of Object.entries(members)) await api("ann", "PUT", `/api/spaces/${id}/members`, { kind: "person", id: (await api(login, "GET", "/api/me")).id, role });
  return id;
}

const switcher = (page) => page.getByRole("button", { name: /^Space: / });
const chats = (page) => page.getByRole("navigation", { name: "Chats" });

async function choose(page, item) {
  await switcher(page).click();
  await page.getByRole("menu", { name: /^Space: / }).waitFor();
  await page.getByRole("menuitemradio", { name: item }).or(page.getByRole("menuitem", { name: item })).first().click();
}

async function fromTitle(page, item) {
  await page.getByRole("button", { name: "Chat options" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

const removed = (page, space) => page.getByText(`You are no longer a member of “${space}”, so this page has left it.`).first();

beforeEach(() => (model.hold = Infinity));

/** Runs a test, then closes its pages, which must have had no faults. */
const test = (name, run) =>
  it(name, async () => {
    try {
      await run();
    } catch (err) {
      for (const { page, login } of open) await screenshot(page, `failed-${login}-${name.replaceAll(/\W+/g, "-").slice(0, 40)}`).catch(() => {});
      throw err;
    } finally {
      for (const { context } of open) await context.close();
      const faults = open.splice(0).flatMap((o) => o.faults);
      assert.deepEqual(faults, []);
    }
  });

describe("a suggestion of a space", () => {
  test("is sent by a click, and answered from the documents of the space", async () => {
    const { page } = await arriveAs("ann");
    await page.goto(`/?space=${await makeSpace("Lamps")}`);
    await page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name: "Summarize Lighthouse notes" }).click();
    await page.waitForURL(/\/chat\//);
    await yours(page).getByText("Lighthouse notes").waitFor();
    await (await answer(page, 1)).getByText("The clock is wound").waitFor();
  });
});

describe("spaces", () => {
  test("two people share documents and a chat, until one is removed in mid-answer", async () => {
    const { page: ann } = await arriveAs("ann");
    await choose(ann, "New space…");
    await ann.getByLabel("Name", { exact: true }).fill("Legal");
    await ann.getByRole("button", { name: "Create space" }).click();
    await ann.getByRole("heading", { level: 1, name: "“Legal” is empty" }).waitFor();
    await ann.getByRole("region", { name: "“Legal” is empty" }).waitFor();
    await shot(ann, "space-empty");
    assert.deepEqual(await axe(ann), []);

    await upload(ann, "Lighthouse notes.md", TEXT);
    await ready(ann, "Lighthouse notes");
    await documents(ann).filter({ hasText: "Lighthouse notes" }).getByText(/^Added by ann/).waitFor();
    await shot(ann, "space-library");
    await ann.getByRole("button", { name: /^Library/ }).click();

    const { page: bob, faults } = await arriveAs("bob");
    assert.equal(await chats(bob).getByRole("link").count(), 0);
    await choose(bob, "Join a space…");
    const bobId = await bob.getByLabel("Your id", { exact: true }).inputValue();
    await bob.keyboard.press("Escape");
    await choose(ann, "Members…");
    const members = ann.getByRole("dialog", { name: "Members of “Legal”" });
    await members.getByLabel("Id of the person").and(ann.locator(":focus")).waitFor();
    await members.getByLabel("Id of the person").fill(bobId);
    await members.getByRole("button", { name: "Add", exact: true }).click();
    await members.getByRole("listitem").filter({ hasText: "bob" }).waitFor();
    assert.deepEqual(await axe(ann), []);
    await shot(ann, "space-members");
    await ann.keyboard.press("Escape");

    await ask(ann, QUESTION);
    await answer(ann, 1);
    await fromTitle(ann, "Share with the space");
    await ann.getByText("Everybody in the space can read this chat now.").first().waitFor();
    await ann.locator("header").getByText("Shared with the space").waitFor();
    await yours(ann).getByText(/ann.*\(you\)/).waitFor();
    const address = ann.url();
    assert.match(address, /\/chat\/[0-9a-f-]+\?space=[0-9a-f-]+$/);
    await ann.reload();
    await yours(ann).waitFor();
    assert.equal(ann.url(), address);
    await switcher(ann).filter({ hasText: "Legal" }).waitFor();

    await bob.reload();
    await choose(bob, /^Legal/);
    await chats(bob).getByRole("link", { name: /Shared by ann/ }).click();
    await bob.getByRole("article", { name: /^ann/ }).waitFor();
    assert.equal(await composer(bob).count(), 0);
    assert.equal(await bob.getByRole("button", { name: /^(Edit message|Regenerate|Good answer)$/ }).count(), 0);
    await bob.getByRole("button", { name: /^Citation 1/ }).first().click();
    await bob.getByText("Visitors are welcome on Sundays.").first().waitFor();
    await shot(bob, "space-reading");
    assert.deepEqual(await axe(bob), []);
    await bob.getByRole("button", { name: "Continue in a copy" }).click();
    await composer(bob).waitFor();
    assert.notEqual(bob.url(), address);
    await bob.getByRole("article", { name: /^ann/ }).waitFor();

    model.hold = 2;
    await ask(bob, "And on Sundays?");
    await writing(bob).getByText("The clock is wound").waitFor();
    for (const status of [403, 404]) expectRefusal(faults, status);
    await choose(ann, "Members…");
    const row = members.getByRole("listitem").filter({ hasText: "bob" });
    await row.getByRole("button", { name: /^Remove bob/ }).click();
    await row.getByRole("button", { name: "Remove", exact: true }).click();
    await row.waitFor({ state: "detached" });
    model.hold = Infinity;
    await removed(bob, "Legal").waitFor();
    await switcher(bob).filter({ hasText: "Personal" }).waitFor();
    assert.equal(bob.url(), `${stack.url}/`);
    await shot(bob, "space-removed");
    let asked = 0;
    bob.on("request", (r) => r.url().includes("/api/") && asked++);
    await switcher(bob).click();
    await bob.getByRole("menuitem", { name: "New space…" }).waitFor();
    assert.equal(await bob.getByRole("menuitemradio", { name: /^Legal/ }).count(), 0);
    assert.ok(asked < 10, `${asked} requests after the removal`);
    await bob.goto(address);
    await bob.getByText("This space doesn't exist, or you are not a member.").first().waitFor();
    await composer(bob).waitFor();
  });

  test("documents move into a space and back, and a deleted space is restored", async () => {
    const id = await makeSpace("Finance");
    const { page: ann } = await arriveAs("ann");
    await upload(ann, "Tide table.md", "# Tide table\n\nHigh water is at noon.\n");
    await ready(ann, "Tide table");
    await documents(ann).filter({ hasText: "Tide table" }).hover();
    await ann.getByRole("button", { name: "Move Tide table to…" }).click();
    await ann.getByLabel("Move to").selectOption({ label: "Finance" });
    await ann.getByRole("button", { name: "Move", exact: true }).click();
    await ann.getByText("“Tide table” was moved to “Finance”.").first().waitFor();
    await choose(ann, /^Finance/);
    await openDocuments(ann);
    await ready(ann, "Tide table");
    assert.equal(new URL(ann.url()).search, `?space=${id}`);

    const second = await ann.context().newPage(); // a new tab begins where the person was
    await second.goto("/");
    await switcher(second).filter({ hasText: "Finance" }).waitFor();
    await second.close();

    await choose(ann, "Delete the space…");
    const dialog = ann.getByRole("dialog", { name: "Delete “Finance”?" });
    const confirm = dialog.getByRole("button", { name: "Delete the space" });
    await dialog.getByRole("textbox").and(ann.locator(":focus")).waitFor();
    await dialog.getByRole("textbox").fill("finance");
    assert.equal(await confirm.isDisabled(), true);
    await dialog.getByRole("textbox").fill("Finance");
    assert.deepEqual(await axe(ann), []);
    await confirm.click();
    await switcher(ann).filter({ hasText: "Personal" }).waitFor();
    await choose(ann, "Restore “Finance”");
    await switcher(ann).filter({ hasText: "Finance" }).waitFor();
    await openDocuments(ann);
    await ready(ann, "Lighthouse notes");
  });

  test("a reader changes nothing, and can leave, by the keyboard", async () => {
    await makeSpace("Board room", { bob: "reader" });
    const { page: bob } = await arriveAs("bob", dark);
    await switcher(bob).focus();
    await bob.keyboard.press("Enter");
    await bob.getByRole("menuitemradio", { name: /^Board room/ }).waitFor();
    await bob.keyboard.type("Board");
    await bob.keyboard.press("Enter");
    await bob.getByRole("heading", { level: 1, name: "What would you like to know in “Board room”?" }).waitFor();
    await bob.getByRole("button", { name: /^Library/ }).press("Enter");
    await ready(bob, "Lighthouse notes");
    assert.equal(await bob.getByRole("button", { name: /^(Rename|Delete|Move) Lighthouse|Add documents/ }).count(), 0);
    await shot(bob, "space-reader-dark");
    assert.deepEqual(await axe(bob), []);
    await choose(bob, "About this space…");
    const about = bob.getByRole("dialog", { name: "Board room" });
    assert.equal(await about.getByLabel("Instructions").isDisabled(), true);
    assert.deepEqual(await axe(bob), []);
    await bob.keyboard.press("Escape");
    await choose(bob, "Leave the space…");
    await bob.getByRole("dialog").getByRole("button", { name: "Leave the space" }).press("Enter");
    await bob.getByText("You have left “Board room”.").first().waitFor();
    await switcher(bob).filter({ hasText: "Personal" }).waitFor();
  });

  test("a file that is attached belongs to its chat, until a contributor puts it into the space", async () => {
    const id = await makeSpace("Zoo", { bob: "reader" });
    const inSpace = { "X-Space-Id": id };
    const titles = async () => (await api("ann", "GET", "/api/documents", null, inSpace)).items.map((d) => d.title);
    const { page: bob } = await arriveAs("bob");
    await choose(bob, /^Zoo/);
    const attach = async (name) => {
      await bob.locator("form input[type=file]").setInputFiles({ name: `${name}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# ${name}\n\nThe okapi is called Bahati.\n`) });
      await composer(bob).locator(".mention", { hasText: name }).waitFor();
    };
    await attach("Okapi notes");
    const tray = bob.getByRole("list", { name: "Attachments" });
    await tray.getByText("Only in this chat").first().waitFor();
    assert.equal(await tray.getByRole("button", { name: "Put into the library" }).count(), 0, "a reader changes nothing of the space");
    await composer(bob).pressSequentially("What is the okapi called?");
    await composer(bob).press("Enter");
    await answer(bob, 1);
    const ofChat = (page) => page.getByRole("list", { name: "Documents: Only in this chat" }).getByRole("listitem");
    await openDocuments(bob);
    await ofChat(bob).getByText("Okapi notes").waitFor();
    assert.equal(await bob.getByRole("button", { name: "Put Okapi notes into the library" }).count(), 0);
    assert.deepEqual(await titles(), ["Lighthouse notes"]);
    assert.deepEqual(await axe(bob), []);
    await shot(bob, "space-attached");

    await fromTitle(bob, "Share with the space");
    await bob.getByText("Everybody in the space can read this chat now.").first().waitFor();
    const { page: ann } = await arriveAs("ann");
    await ann.goto(bob.url());
    await openDocuments(ann);
    await ofChat(ann).getByText("Added by bob").waitFor();
    assert.equal(await ann.getByRole("button", { name: /^(Put|Rename|Delete) Okapi notes/ }).count(), 0, "it is bob's");
    await ofChat(ann).getByRole("button", { name: "Open Okapi notes" }).click();
    await ann.getByText("The okapi is called Bahati.").first().waitFor();
    assert.deepEqual(await titles(), ["Lighthouse notes"]);

    await api("ann", "PUT", `/api/spaces/${id}/members`, { kind: "person", id: (await api("bob", "GET", "/api/me")).id, role: "contributor" });
    await bob.reload();
    await openDocuments(bob);
    await bob.getByRole("button", { name: "Put Okapi notes into the library" }).click();
    await bob.getByRole("list", { name: "Documents: Documents of the space" }).getByText("Okapi notes").waitFor();
    await attach("Tapir notes");
    await tray.getByRole("button", { name: "Put into the library" }).click();
    await tray.getByText("Documents of the space").first().waitFor();
    assert.deepEqual((await titles()).sort(), ["Lighthouse notes", "Okapi notes", "Tapir notes"]);
  });

  test("a board is changed by contributors, whom it names, and read by readers", async () => {
    const id = await makeSpace("Atlas", { bob: "reader" });
    await api("ann", "POST", "/api/discoveries", { title: "Tides", facts: [{ text: "The tide rises at noon." }] }, { "X-Space-Id": id });
    const { page: ann } = await arriveAs("ann");
    const boards = (page) => page.getByRole("list", { name: "Boards" }).getByRole("link", { name: /^Tides/ });
    await ann.getByRole("link", { name: "Discovery" }).click();
    await ann.getByRole("button", { name: "New board" }).waitFor();
    assert.equal(await boards(ann).count(), 0, "it is not of the person");
    await choose(ann, /^Atlas/);
    await ann.getByRole("link", { name: "Discovery" }).click();
    await boards(ann).click();
    const card = (page, n) => page.locator(`[data-item="F-${n}"]`);
    await card(ann, 1).getByText(/^by ann.*\(you\)/).waitFor();
    assert.match(ann.url(), new RegExp(`/discovery/[0-9a-f-]+\\?space=${id}$`));
    await ann.reload();
    await card(ann, 1).focus();
    await ann.keyboard.press("Enter");
    await ann.getByLabel("Text", { exact: true }).fill("The tide rises at one.");
    await ann.getByRole("button", { name: "Save", exact: true }).click();
    await card(ann, 1).getByText("The tide rises at one.").waitFor();
    await ann.getByRole("button", { name: "Changes", exact: true }).click();
    await ann.getByRole("dialog").getByText(/^by ann/).first().waitFor();
    assert.deepEqual(await axe(ann), []);
    await shot(ann, "space-board");

    const { page: bob } = await arriveAs("bob", phone);
    await bob.goto(ann.url());
    await card(bob, 1).getByText(/^by ann/).waitFor();
    assert.equal(await bob.getByRole("button", { name: /^(Add an? |Options|Title and goal)/ }).count(), 0, "a reader changes nothing");
    assert.deepEqual(await axe(bob), []);
    await shot(bob, "space-board-reader-phone");
    await bob.getByRole("button", { name: "All boards" }).click();
    await boards(bob).waitFor();
    assert.equal(await bob.getByRole("button", { name: /^(New board|Import)$/ }).count(), 0);
  });

  test("a key works in its space only, and a chat there gets links only if the space permits them", async () => {
    const id = await makeSpace("Harbour");
    const { page: ann } = await arriveAs("ann");
    await choose(ann, /^Harbour/);
    await ask(ann, QUESTION);
    await answer(ann, 1);
    const share = ann.getByRole("menuitem", { name: "Share", exact: true });
    await ann.getByRole("button", { name: "Chat options" }).click();
    await ann.getByRole("menuitem", { name: "Share with the space" }).waitFor();
    assert.equal(await share.count(), 0, "links are forbidden");
    await ann.keyboard.press("Escape");
    await choose(ann, "Settings of the space…");
    const settings = ann.getByRole("dialog", { name: /Harbour/ });
    await settings.getByLabel(/^Chats may be shared by public links/).check();
    await settings.getByRole("button", { name: "Save" }).click();
    await settings.waitFor({ state: "detached" });
    await fromTitle(ann, /^Share$/);
    await ann.getByRole("dialog", { name: "Share this chat" }).getByRole("button", { name: "Create link" }).click();
    await ann.getByText("The link is ready").first().waitFor();
    await ann.keyboard.press("Escape");

    await ann.getByRole("button", { name: "Your account" }).click();
    await ann.getByRole("menuitem", { name: "Personal keys", exact: true }).click();
    const keys = ann.getByRole("dialog", { name: "Personal keys" });
    await keys.getByLabel("Name").fill("Harbour bot");
    await keys.getByLabel("Works in").selectOption({ label: "Harbour" });
    await keys.getByLabel("Name").press("Enter");
    const key = await keys.getByLabel("Key of Harbour bot").inputValue();
    await keys.getByRole("listitem").filter({ hasText: "Harbour bot" }).getByText(/Only in “Harbour”/).waitFor();
    assert.deepEqual(await axe(ann), []);
    await shot(ann, "space-key");
    const with_ = async (path, space) => (await fetch(stack.url + path, { headers: { Authorization: `Bearer ${key}`, ...(space && { "X-Space-Id": space }) } })).status;
    assert.equal(await with_("/api/documents"), 200);
    assert.equal(await with_("/api/me/export"), 403);
    assert.equal(await with_("/api/documents", await makeSpace("Quay")), 403);
    assert.equal(await with_("/api/documents", id), 200);
  });

  test("answers are those that the space's settings say, and its sets are its own", async () => {
    await makeSpace("Reef", { bob: "reader" });
    const { page: ann } = await arriveAs("ann");
    await choose(ann, /^Reef/);
    await choose(ann, "Settings of the space…");
    const settings = ann.getByRole("dialog", { name: /Reef/ });
    await settings.getByLabel("Answers", { exact: true }).selectOption("assistant");
    await settings.getByLabel("Effort", { exact: true }).selectOption("thorough");
    await settings.getByRole("button", { name: "Save" }).click();
    await settings.waitFor({ state: "detached" });
    const sent = ann.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/ui/chat"));
    await ask(ann, QUESTION);
    const body = (await sent).postDataJSON();
    assert.equal(body.agent, "assistant");
    assert.equal(body.effort, undefined, "the server takes that of the space");

    await openDocuments(ann);
    await ann.getByRole("tab", { name: "Sets" }).click();
    await ann.getByRole("button", { name: "New set" }).click();
    const dialog = ann.getByRole("dialog", { name: /set/i });
    await dialog.getByLabel("Name", { exact: true }).fill("Lamps");
    await dialog.getByLabel("Lighthouse notes").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await ann.getByRole("list", { name: "Sets" }).getByText("Lamps").waitFor();
    assert.deepEqual(await axe(ann), []);

    const { page: bob } = await arriveAs("bob");
    await openDocuments(bob);
    await bob.getByRole("tab", { name: "Sets" }).click();
    await bob.getByText("Group documents, then type @name").first().waitFor();
    assert.equal(await bob.getByText("Lamps").count(), 0, "it is not of the person");
    await choose(bob, /^Reef/);
    await openDocuments(bob);
    await bob.getByRole("tab", { name: "Sets" }).click();
    await bob.getByRole("list", { name: "Sets" }).getByText("Lamps").waitFor();
    assert.equal(await bob.getByRole("button", { name: /^(New set|Edit Lamps|Delete Lamps)$/ }).count(), 0, "a reader changes none");
  });

  test("work on a phone", async () => {
    await makeSpace("Legal and compliance of all subsidiaries", { bob: "contributor" });
    const { page: bob } = await arriveAs("bob", phone);
    const fits = async () => assert.ok(await bob.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "wider than the phone");
    await bob.getByRole("button", { name: "Chats", exact: true }).tap();
    await switcher(bob).tap();
    await bob.getByRole("menuitemradio", { name: /^Legal and/ }).waitFor();
    await shot(bob, "space-phone-menu");
    assert.deepEqual(await axe(bob), []);
    await bob.getByRole("menuitemradio", { name: /^Legal and/ }).tap();
    await bob.getByRole("heading", { level: 1, name: /Legal and compliance/ }).waitFor();
    await fits();
    assert.deepEqual(await axe(bob), []);
    await shot(bob, "space-phone");
    await ask(bob, QUESTION);
    await answer(bob, 1);
    await fromTitle(bob, "Share with the space");
    await bob.locator("header").getByText("Shared with the space").waitFor();
    await fits();
    await shot(bob, "space-phone-shared");
  });
});

describe("without an account", () => {
  test("there are no spaces", async () => {
    const { page, context, faults } = await newPage(browser, stack.url);
    open.push({ page, context, faults, login: "nobody" });
    await page.goto("/");
    await composer(page).waitFor();
    assert.equal(await switcher(page).count(), 0);
  });
});
