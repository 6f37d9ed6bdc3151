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
  await page.getByRole("menu").waitFor();
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
    await switcher(bob).filter({ hasText: "My chats and documents" }).waitFor();
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
    await dialog.getByRole("textbox").fill("finance");
    assert.equal(await confirm.isDisabled(), true);
    await dialog.getByRole("textbox").fill("Finance");
    assert.deepEqual(await axe(ann), []);
    await confirm.click();
    await switcher(ann).filter({ hasText: "My chats and documents" }).waitFor();
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
    await switcher(bob).filter({ hasText: "My chats and documents" }).waitFor();
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
