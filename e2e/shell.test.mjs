// Everything around the conversation: the welcome page, the composer, the list of
// conversations and the documents; by keyboard, on a phone, in dark mode and with a
// screen reader.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, clear, composer, dark, desktop, documents, expectRefusal, mention, messageForm, openDocuments, phone, ready, sendButton, shot, upload, still } from "./browser.mjs";
import { gate } from "./model-server.mjs";
import { arrive, browser, context, faults, leaveNoFaults, page, stack, useSecondStack, useStack } from "./suite.mjs";
import { addDocument, many } from "./thread.mjs";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC", "base64");
const KB = 1000;
const LANGUAGES = readdirSync(new URL("../web/src/words", import.meta.url)).flatMap((file) => /^([a-z]{2})\.ts$/.exec(file)?.[1] ?? []);

useStack();

/** Each test has a new user and fails if the page had faults. */
const eachANewPerson = (look) => {
  beforeEach(() => arrive(look));
  leaveNoFaults();
};

/** Polls until the condition holds, or until the test's timeout. */
async function until(so) {
  while (!(await so())) await page.evaluate(() => new Promise(requestAnimationFrame));
}

/** Waits for an answer or a question. */
const replied = (p) => answers(p).or(assist(p)).filter({ visible: true }).first().waitFor();

const yours = () => page.getByRole("article", { name: "You" });
const LONG = "Minutes_of_the_extraordinary_general_meeting_of_shareholders_in_the_large_hall_with_all_appendices";

/** The bounding box when animations have ended. */
async function box(locator) {
  await still(page);
  const { x, y, width, height } = await locator.boundingBox();
  return { left: x, top: y, right: x + width, bottom: y + height, width, height };
}

const covers = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const notice = () => page.getByRole("region", { name: /^Notifications/ }).getByRole("dialog");
const conversations = () => page.getByRole("navigation", { name: "Chats" });
const row = (title) => conversations().getByRole("listitem").filter({ hasText: title });

/** A notice closes by itself, but not while the pointer is over it. */
const hold = (words) => page.getByText(words).hover();

async function fromMenu(title, item) {
  await row(title).hover();
  await row(title).getByRole("button", { name: /^Options for/ }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Collects the bodies that the page posts to a path. */
function posts(path) {
  const bodies = [];
  page.on("request", (r) => r.method() === "POST" && new URL(r.url()).pathname === path && bodies.push(r.postDataJSON()));
  return bodies;
}

describe("the reader's own data", () => {
  eachANewPerson();

  const choose = async (p, item) => {
    await p.getByRole("button", { name: "Settings" }).click();
    await p.getByRole("menuitem", { name: item, exact: true }).click();
  };

  it("is downloaded, and stays with this browser when others are signed out", async () => {
    await page.goto("/");
    await ask(page, "When is the capital plan submitted?");
    await replied(page);
    const download = page.waitForEvent("download");
    await choose(page, "Download your data");
    assert.match((await download).suggestedFilename(), /\.zip$/);

    const before = await context.cookies();
    await choose(page, "Sign out other browsers");
    await page.getByText("Your other browsers are signed out.").waitFor();
    const other = await browser.newContext({ baseURL: stack.url });
    await other.addCookies(before);
    assert.deepEqual((await (await other.request.get("/api/conversations")).json()).items, [], "the old cookie gets a new user");
    await other.close();
    await page.reload();
    await row("When is the capital plan submitted?").waitFor();
  });

  it("has industry and place, which are stored", async () => {
    await page.goto("/");
    await choose(page, "About you");
    const dialog = page.getByRole("dialog", { name: "About you" });
    await dialog.getByLabel("Industry").fill("  banking ");
    await dialog.getByLabel("Place").fill("Kuala Lumpur");
    assert.deepEqual(await axe(page), []);
    await shot(page, "shell-profile");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "shell-profile-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await dialog.getByLabel("Place").press("Enter");
    await page.getByText("Saved.").waitFor();
    await dialog.waitFor({ state: "detached" });
    const me = await (await page.request.get("/api/me")).json();
    assert.deepEqual([me.industry, me.location], ["banking", "Kuala Lumpur"]);

    await page.reload();
    await choose(page, "About you");
    assert.equal(await dialog.getByLabel("Industry").inputValue(), "banking");
    await dialog.getByLabel("Industry").fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await choose(page, "About you");
    assert.equal(await dialog.getByLabel("Industry").inputValue(), "");
  });

  it("has keys for other programs: a key is shown once, works, and can be revoked", async () => {
    await page.goto("/");
    await choose(page, "Personal keys");
    const dialog = page.getByRole("dialog", { name: "Personal keys" });
    await dialog.getByText("You have no keys.").waitFor();
    assert.ok(await dialog.getByRole("button", { name: "Create key" }).isDisabled(), "a key needs a name");
    await dialog.getByLabel("Name").fill("  Open WebUI ");
    await dialog.getByLabel("Expires").selectOption({ label: "After 30 days" });
    await dialog.getByLabel("Name").press("Enter");
    await dialog.getByText("“Open WebUI” was created. Copy the key now").waitFor();
    const key = await dialog.getByLabel("Key of Open WebUI").inputValue();
    assert.match(key, /^plv_\w{48,}$/);
    const item = dialog.getByRole("listitem").filter({ hasText: "Open WebUI" });
    await item.getByText(/^Never used · Expires /).waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "shell-keys");
    await page.emulateMedia({ colorScheme: "dark" });
    assert.deepEqual(await axe(page), []);
    await shot(page, "shell-keys-dark");
    await page.emulateMedia({ colorScheme: "light" });

    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await dialog.getByRole("button", { name: "Copy key" }).click();
    await dialog.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), key);
    const withKey = async () => (await fetch(`${stack.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
    assert.equal(await withKey(), 200);

    await dialog.getByLabel("Name").fill("Scripts");
    await dialog.getByLabel("Expires").selectOption({ label: "Never" });
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByLabel("Key of Scripts").waitFor();
    await dialog.getByRole("listitem").filter({ hasText: "Scripts" }).getByText("Never used · Never expires").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await choose(page, "Personal keys");
    await item.getByText(/^Used .+ · Expires /).waitFor();
    assert.equal(await dialog.getByText(/plv_/).or(dialog.getByLabel(/^Key of/)).count(), 0, "no key is shown again");
    await item.getByRole("button", { name: "Revoke Open WebUI" }).click();
    await item.getByText("Programs that use this key can no longer reach Palaver.").waitFor();
    assert.deepEqual(await axe(page), []);
    await item.getByRole("button", { name: "Cancel" }).click();
    assert.equal(await withKey(), 200);
    await item.getByRole("button", { name: "Revoke Open WebUI" }).click();
    await item.getByRole("button", { name: "Revoke", exact: true }).click();
    await item.waitFor({ state: "detached" });
    assert.equal(await withKey(), 401);
    await dialog.getByRole("listitem").filter({ hasText: "Scripts" }).waitFor();
  });

  it("says why a key cannot be created", async () => {
    await page.goto("/");
    await page.evaluate(async () => {
      for (let i = 0; i < 20; i++) await fetch("/api/me/keys", { method: "POST", headers: { "Content-Type": "application/json", "X-Palaver-Page": "1" }, body: JSON.stringify({ name: `Key ${i}` }) });
    });
    expectRefusal(faults, 429);
    await choose(page, "Personal keys");
    const dialog = page.getByRole("dialog", { name: "Personal keys" });
    await dialog.getByLabel("Name").fill("One more");
    await dialog.getByRole("button", { name: "Create key" }).click();
    await dialog.getByText("You have 20 keys. Revoke one first.").waitFor();
    assert.equal(await dialog.getByLabel("Name").inputValue(), "One more");
  });

  it("is signed out after a warning, and discards the draft", async () => {
    await page.goto("/");
    await ask(page, "When is the capital plan submitted?");
    await replied(page);
    await composer(page).fill("A draft");
    await choose(page, "Sign out");
    const dialog = page.getByRole("dialog", { name: "Sign out of this browser?" });
    await shot(page, "shell-sign-out");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await row("When is the capital plan submitted?").waitFor();

    await choose(page, "Sign out");
    await dialog.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByText("Your chats will appear here.").waitFor();
    assert.equal(await composer(page).textContent(), "");
  });
});

describe("the welcome page", () => {
  eachANewPerson();

  it("takes a message to its own thread, whose title it becomes", async () => {
    await page.goto("/");
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await shot(page, "shell-01-welcome");
    await ask(page, "When is the capital plan submitted?");
    await page.waitForURL(/\/chat\/[0-9a-f-]{36}$/);
    await answer(page, 1);
    assert.equal(await yours().count(), 1);
    await row("When is the capital plan submitted?").waitFor();
    await page.waitForFunction(() => document.title.startsWith("When is the capital plan submitted?"));
    await page.reload();
    await answer(page, 1);
    assert.equal(await yours().count(), 1);
  });

  it("takes a message with a picture and a file to /chat/:id", async () => {
    await page.goto("/");
    const sent = posts("/api/ui/chat");
    await page.locator("form input[type=file]").setInputFiles([
      { name: "station.png", mimeType: "image/png", buffer: PNG },
      { name: "Tide table.md", mimeType: "text/markdown", buffer: Buffer.from("# Tide table\n\nHigh tide is at noon on the first of May.\n") },
    ]);
    await composer(page).locator(".mention", { hasText: "Tide table" }).waitFor();
    await page.getByRole("img", { name: "station.png" }).waitFor();
    await composer(page).pressSequentially("says high tide is when?");
    await shot(page, "shell-02-attachments");
    await openDocuments(page);
    await ready(page, "Tide table");
    await composer(page).press("Enter");
    await page.waitForURL(/\/chat\//);
    await yours().getByRole("img").waitFor();
    assert.match(await yours().textContent(), /Tide table says high tide is when\?/);
    await (await answer(page, 1)).getByText(/noon/).first().waitFor();
    assert.equal(sent.length, 1);
    assert.equal(sent[0].tagged_doc_ids.length, 1);
    assert.equal(sent[0].tiptap_json.type, "doc");
  });

  it("/chat/:id sends the pending message and its picture again when the server has not accepted them, and not a second time", async () => {
    await page.route("**/api/ui/chat", () => {}); // it never arrives
    await page.goto("/");
    await page.locator("form input[type=file]").setInputFiles({ name: "station.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("img", { name: "station.png" }).waitFor();
    await composer(page).fill("Where does the message go?");
    const tried = page.waitForRequest("**/api/ui/chat");
    await composer(page).press("Enter");
    await tried;
    await page.unroute("**/api/ui/chat");
    await page.reload();
    await yours().getByText("Where does the message go?").waitFor();
    await replied(page);
    await page.reload();
    await replied(page);
    assert.equal(await yours().count(), 1);
    assert.equal(await yours().getByRole("img").count(), 1);
  });

  it("lets the user choose the agent: documents or assistant", async () => {
    await page.goto("/");
    const sent = posts("/api/ui/chat");
    await page.getByRole("button", { name: "Mode: Document answers" }).click();
    await page.getByRole("menuitemradio", { name: "Assistant" }).click();
    await page.getByRole("button", { name: "Mode: Assistant" }).waitFor();
    await ask(page, "What about liquidity?");
    await replied(page);
    assert.equal(sent[0].agent, "assistant");
    await page.getByRole("button", { name: "Mode: Assistant" }).waitFor();
  });

  it("offers suggestions for the existing documents", async () => {
    await page.goto("/");
    for (const year of [2024, 2025]) await addDocument(page, `Lamp report ${year}`, `The lamp was lit on every night of ${year}.`);
    await page.reload();
    const sent = posts("/api/ui/chat");
    await page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name: "What changed from the 2024 to the 2025 Lamp report?" }).click();
    await answer(page, 1);
    assert.equal(sent[0].action, "compare");
    assert.equal(sent[0].tagged_doc_ids.length, 2);
  });

  it("keeps the position of its heading when the suggestions change and when the message grows", async () => {
    await page.goto("/");
    const ways = page.getByRole("list", { name: "Suggestions" });
    await ways.getByText("Shared").first().waitFor();
    const heading = page.getByRole("heading", { name: "Ask your documents" });
    const { top } = await box(heading);
    const { height } = await box(ways);
    await addDocument(page, "Fog", "The fog came at noon.");
    await page.reload();
    await ways.getByRole("button", { name: "Summarize Fog" }).waitFor();
    assert.notEqual((await box(ways)).height, height, "the suggestions take another number of lines");
    assert.equal((await box(heading)).top, top);
    await composer(page).fill("one\ntwo\nthree\nfour\nfive");
    assert.equal((await box(heading)).top, top);
  });

  for (const [look, at] of Object.entries({ desktop, phone })) {
    it(`paints its frame before a script runs: ${look}`, async () => {
      await arrive(at);
      const scripts = gate();
      await page.route("**/assets/*.js", async (route) => (await scripts, route.continue().catch(() => {})));
      await page.goto("/", { waitUntil: "commit" });
      await page.locator(".frame-welcome .frame-box").waitFor();
      await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length === 1);
      await shot(page, `shell-frame-${look}`);
      const before = await page.locator(".frame-box").first().boundingBox();
      scripts.open();
      await composer(page).waitFor();
      assert.equal(await page.locator(".frame").count(), 0);
      const { x, width } = await messageForm(page).boundingBox();
      assert.deepEqual([x, width], [before.x, before.width], "the field takes the place of its frame");
      await shot(page, `shell-frame-${look}-after`);
    });
  }

  for (const language of LANGUAGES) {
    it(`loads at most 300 kB, answers of the API and headers included, and asks nothing about a chat that has nothing: ${language}`, async () => {
      await arrive({ ...desktop, locale: language });
      const loaded = [];
      const asked = [];
      page.on("requestfinished", (r) => loaded.push(r.sizes().then((s) => s.responseBodySize + s.responseHeadersSize)));
      page.on("request", (r) => asked.push(r.url()));
      await page.goto("/");
      await page.locator("[data-composer] [contenteditable=true]").fill("Hello");
      await page.getByRole("listitem").getByRole("button", { name: /policy/i }).first().waitFor(); // a suggestion
      await page.waitForLoadState("networkidle");
      const bytes = (await Promise.all(loaded)).reduce((a, b) => a + b, 0);
      assert.ok(bytes < 300 * KB, `the welcome page loads ${bytes} bytes`);
      assert.deepEqual(asked.filter((url) => url.includes("conversation_id")), []);
    });
  }

  it("loads a thread with at most 350 kB of JavaScript", async () => {
    const loaded = [];
    await page.goto("/");
    await ask(page, "What about liquidity?");
    await replied(page);
    const thread = page.url();
    const again = await context.newPage();
    await again.route("**/Markdown-*.js", () => {}); // the composer does not wait for it
    again.on("response", (r) => new URL(r.url()).pathname.endsWith(".js") && loaded.push(r.request().sizes().then((s) => s.responseBodySize)));
    await again.goto(thread);
    await composer(again).fill("Hello");
    const second = (await Promise.all(loaded)).reduce((a, b) => a + b, 0);
    assert.ok(second < 350 * KB, `a thread loads ${second} bytes`);
  });
});

describe("the composer", () => {
  eachANewPerson();

  it("sends with Enter, breaks the line with Shift+Enter, grows, and does not send what is blank", async () => {
    await page.goto("/");
    const sent = posts("/api/ui/chat");
    for (const blank of ["", "   ", "\u00a0"]) {
      await composer(page).fill(blank);
      assert.equal(await sendButton(page).isDisabled(), true);
      await composer(page).press("Enter");
    }
    await composer(page).press("Shift+Enter");
    await composer(page).press("Enter");
    assert.equal(new URL(page.url()).pathname, "/");
    await clear(page);
    const height = () => composer(page).evaluate((el) => el.getBoundingClientRect().height);
    const before = await height();
    await composer(page).pressSequentially("line one");
    for (const line of ["line two", "line three", "line four"]) {
      await composer(page).press("Shift+Enter");
      await composer(page).pressSequentially(line);
    }
    assert.ok((await height()) > before + 20, "the box has grown");
    assert.equal(sent.length, 0);
    await composer(page).press("Enter");
    await page.waitForURL(/\/chat\//);
    await yours().waitFor();
    assert.match(await yours().textContent(), /line one\nline two\nline three\nline four/);
    assert.equal(sent.length, 1);
  });

  it("sends everything that was typed, even when Enter follows before it is rendered", async () => {
    await page.goto("/");
    const sent = posts("/api/ui/chat");
    await composer(page).click();
    await page.evaluate(async () => {
      document.execCommand("insertText", false, "Quick words");
      await null; // the editor has handled the input, but nothing is rendered yet
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", keyCode: 13, bubbles: true, cancelable: true }));
    });
    await yours().getByText("Quick words", { exact: true }).waitFor();
    assert.equal(sent[0].message.parts[0].text, "Quick words");
  });

  it("mentions documents, actions and sets by keyboard, in groups, and sends their ids and kinds", async () => {
    await page.goto("/");
    await composer(page).pressSequentially("@");
    const list = page.getByRole("listbox", { name: "Mentions" });
    await list.waitFor();
    assert.deepEqual(await list.getByRole("group").evaluateAll((all) => all.map((g) => g.getAttribute("aria-label"))), ["Documents", "Actions", "Web"]);
    assert.equal(await list.getByRole("option", { name: /Web search/ }).getAttribute("aria-disabled"), "true");
    await shot(page, "shell-03-mentions");

    const active = () => composer(page).evaluate((el) => document.getElementById(el.getAttribute("aria-activedescendant"))?.textContent);
    const first = await active();
    await composer(page).press("ArrowDown");
    assert.notEqual(await active(), first);
    await composer(page).press("ArrowUp");
    assert.equal(await active(), first);
    await composer(page).press("Escape");
    await list.waitFor({ state: "detached" });
    assert.equal(await composer(page).textContent(), "@");

    await clear(page);
    const sent = posts("/api/ui/chat");
    await mention(page, "Summarize");
    await mention(page, "Supplier Contract with Brightwater");
    await composer(page).pressSequentially("in short");
    await composer(page).press("Enter");
    await answer(page, 1);
    assert.equal(sent[0].action, "summarize");
    assert.equal(sent[0].tagged_doc_ids.length, 1);
    const [node] = sent[0].tiptap_json.content[0].content;
    assert.deepEqual([node.type, node.attrs.category, node.attrs.id], ["mention", "action", "summarize"]);
    assert.match(await yours().textContent(), /Summarize Supplier Contract with Brightwater in short/);
  });

  it("says that there are more documents than it lists, until the search is narrow enough", async () => {
    await page.goto("/");
    for (const n of [1, 2]) await addDocument(page, `Minutes ${n}`, "The meeting was short.");
    await composer(page).pressSequentially("@");
    await page.getByText("Type to find more").waitFor();
    await shot(page, "shell-13-more-mentions");
    await composer(page).pressSequentially("Minutes");
    await page.getByText("Type to find more").waitFor({ state: "detached" });
    assert.equal(await page.getByRole("option").count(), 2);
  });

  it("keeps a long text off its border and its buttons", async () => {
    await page.goto("/");
    await composer(page).fill("The deposit, in full detail.\n".repeat(60));
    const text = await box(composer(page));
    const form = await box(messageForm(page));
    const button = await box(sendButton(page));
    assert.ok(text.top >= form.top + 6 && text.bottom <= button.top - 4, JSON.stringify({ text, form, button }));
    await shot(page, "shell-14-long-text");
  });

  it("removes a rejected file when the message is sent", async () => {
    await page.goto("/");
    await ask(page, "What about liquidity?");
    await replied(page);
    expectRefusal(faults, 415);
    await page.locator("form input[type=file]").setInputFiles({ name: "odd.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) });
    const refused = page.getByRole("alert").filter({ hasText: "odd.bin: " });
    await refused.waitFor();
    await ask(page, "And outsourcing?");
    await refused.waitFor({ state: "detached" });
  });

  it("does not treat an e-mail address as a mention, and Enter sends when the list is empty", async () => {
    await page.goto("/");
    await composer(page).pressSequentially("write to me@example.org about @nobody there");
    assert.equal(await page.getByRole("option").count(), 0);
    await composer(page).press("Enter");
    await page.waitForURL(/\/chat\//);
  });

  it("keeps a draft for each thread after a reload", async () => {
    await page.goto("/");
    await composer(page).pressSequentially("half a ");
    await mention(page, "Supplier Contract with Brightwater");
    await composer(page).pressSequentially("question");
    await page.reload();
    await composer(page).locator(".mention").waitFor();
    assert.match(await composer(page).textContent(), /^half a @Supplier Contract with Brightwater question$/);
    await composer(page).fill("What about liquidity?");
    await composer(page).press("Enter");
    await page.waitForURL(/\/chat\//);
    await answer(page, 1);
    await composer(page).fill("a later thought");
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    assert.equal(await composer(page).textContent(), "");
    await page.goBack();
    await answer(page, 1);
    assert.equal(await composer(page).textContent(), "a later thought");
    await page.reload();
    await composer(page).getByText("a later thought").waitFor();
  });

  it("accepts pasted and dropped files, shows their progress, and reports an invalid one", async () => {
    await page.goto("/");
    const give = (how, files) =>
      page.evaluate(
        ([type, list]) => {
          const data = new DataTransfer();
          for (const f of list) data.items.add(new File([Uint8Array.from(atob(f.bytes), (c) => c.charCodeAt(0))], f.name, { type: f.type }));
          const event = type === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }) : new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
          (type === "paste" ? document.querySelector(".composer-text") : document.querySelector("main")).dispatchEvent(event);
        },
        [how, files.map((f) => ({ ...f, bytes: f.bytes.toString("base64") }))],
      );
    let arrive;
    const arrival = new Promise((resolve) => (arrive = resolve));
    await page.route("**/api/attachments", async (route) => {
      await arrival;
      await route.continue();
    });
    await composer(page).click();
    await give("paste", [{ name: "pasted.png", type: "image/png", bytes: PNG }]);
    await page.getByRole("progressbar", { name: "Uploading pasted.png" }).waitFor();
    await composer(page).pressSequentially("Look");
    assert.equal(await sendButton(page).isDisabled(), true, "sending waits for the upload of the picture");
    arrive();
    await page.getByRole("img", { name: "pasted.png" }).waitFor();
    assert.equal(await sendButton(page).isDisabled(), false);

    await give("dragenter", [{ name: "x.png", type: "image/png", bytes: PNG }]);
    await page.getByText("Drop files to add them to your message").waitFor();
    expectRefusal(faults, 415);
    await give("drop", [
      { name: "Kayak rules.txt", type: "text/plain", bytes: Buffer.from("Kayaks are returned before sunset.") },
      { name: "odd.bin", type: "application/octet-stream", bytes: Buffer.from([0, 1, 2]) },
    ]);
    await page.getByText("Drop files to add them to your message").waitFor({ state: "detached" });
    await composer(page).locator(".mention", { hasText: "Kayak rules" }).waitFor();
    await page.getByRole("alert").filter({ hasText: "odd.bin: " }).waitFor();
    await page.getByRole("button", { name: "Remove odd.bin" }).click();
    await page.getByRole("button", { name: "Remove pasted.png" }).click();
    await page.getByRole("button", { name: "Remove Kayak rules" }).click();
    assert.equal(await page.getByRole("list", { name: "Attachments" }).count(), 0);
  });

  it("pastes text as plain text, and counts a message that is too long", async () => {
    await page.goto("/");
    const paste = (text, html) =>
      page.evaluate(
        ([plain, rich]) => {
          const data = new DataTransfer();
          data.setData("text/plain", plain);
          data.setData("text/html", rich);
          document.querySelector(".composer-text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        },
        [text, html],
      );
    await composer(page).click();
    await paste("one\ntwo <b>", '<p><span data-type="mention" data-id="x" data-label="Fake">fake</span></p>');
    assert.equal(await composer(page).locator(".mention").count(), 0);
    assert.equal(await composer(page).innerText(), "one\ntwo <b>");
    await clear(page);
    for (let n = 0; n < 8; n++) await paste("a".repeat(4_000), ""); // a longer one becomes a document
    await composer(page).press("a");
    await page.getByText("32,001 of 32,000 characters").waitFor();
    assert.equal(await sendButton(page).isDisabled(), true);
    await composer(page).press("Backspace");
    await page.getByText("32,000 of 32,000 characters").waitFor();
    assert.equal(await sendButton(page).isDisabled(), false);
  });
});

describe("the list of conversations", () => {
  eachANewPerson();

  const begin = async (text) => {
    await page.goto("/");
    await ask(page, text);
    await page.waitForURL(/\/chat\//);
    await replied(page);
    await row(text).waitFor();
    return page.url();
  };

  it("finds, renames and opens them, and says when each was last active", async () => {
    const first = await begin("What about liquidity?");
    await begin("What about outsourcing?");
    assert.equal(await conversations().getByRole("link").count(), 2);
    assert.match(await row("outsourcing").locator("time").textContent(), /^(now|\d+ min)$/);
    await conversations().getByRole("heading", { name: /Today|Yesterday/ }).waitFor();

    await fromMenu("liquidity", "Rename");
    const title = page.getByRole("textbox", { name: "Title" });
    await title.fill("Dropped");
    await title.press("Escape");
    await row("liquidity").waitFor();
    await fromMenu("liquidity", "Rename");
    await title.fill("Ratios & <b>limits</b>");
    await title.press("Enter");
    await row("Ratios & <b>limits</b>").waitFor();

    await page.getByRole("searchbox", { name: "Search chats" }).fill("ratios");
    await row("outsourcing").waitFor({ state: "detached" });
    await row("Ratios").getByRole("link").click();
    await page.waitForURL(first);
    await yours().getByText("What about liquidity?").waitFor();
    await page.getByRole("heading", { name: "Ratios & <b>limits</b>" }).waitFor();
    await page.getByRole("searchbox").fill("no such words");
    await page.getByText("No matching chats").waitFor();
    await page.getByRole("searchbox").press("Escape");
    await row("outsourcing").waitFor();
    await page.reload();
    await row("Ratios").waitFor();
    await page.goBack();
    await yours().getByText("What about outsourcing?").waitFor();
  });

  it("is searched by keyboard: the arrow goes to what was found, Enter opens the first", async () => {
    const first = await begin("Who may work remotely?");
    const second = await begin("What is the liquidity coverage ratio?");
    await page.goto("/");
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.pressSequentially("remotely");
    await search.press("Enter"); // before the results arrive
    await page.waitForURL(first);
    await yours().getByText("work remotely").waitFor();
    await replied(page);
    await search.fill("liquidity");
    await row("remotely").waitFor({ state: "detached" });
    await row("liquidity").getByRole("link").waitFor();
    await search.press("ArrowDown");
    await row("liquidity").getByRole("link").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(second);
    await search.press("Escape");
    await row("remotely").waitFor();
    await search.press("Enter");
    assert.equal(page.url(), second);
  });

  it("has no title for a conversation that does not exist", async () => {
    expectRefusal(faults, 404);
    await page.goto(`/chat/${crypto.randomUUID()}`);
    await page.getByText("Chat not found.").waitFor();
    assert.deepEqual(await page.getByRole("heading", { level: 1 }).allTextContents(), ["Chat not found."]);
    assert.equal(await page.title(), "Palaver");
  });

  it("deletes one, with undo", async () => {
    const url = await begin("What about liquidity?");
    await fromMenu("liquidity", "Delete");
    await hold("was deleted");
    assert.ok(!covers(await box(notice()), await box(page.getByRole("main"))), "the notice must not cover the main area");
    await row("liquidity").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await shot(page, "shell-04-deleted");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("was deleted").waitFor({ state: "detached" });
    await row("liquidity").waitFor();
    await page.waitForURL(url);
    await replied(page);

    await fromMenu("liquidity", "Delete");
    await hold("was deleted");
    const gone = page.waitForResponse((r) => r.request().method() === "DELETE");
    await page.getByRole("button", { name: "Dismiss" }).click();
    assert.equal((await gone).status(), 204);
    await page.reload();
    await page.getByText("Your chats will appear here.").waitFor();
  });

  it("deletes one even when the page is closed before the undo time ends", async () => {
    await begin("What about liquidity?");
    await fromMenu("liquidity", "Delete");
    await row("liquidity").waitFor({ state: "detached" });
    await page.reload();
    await until(async () => (await (await page.request.get("/api/conversations")).json()).items.length === 0);
    await page.reload();
    await page.getByText("Your chats will appear here.").waitFor();
  });

  it("says that it failed to load, and retries", async () => {
    expectRefusal(faults, 500);
    await page.route("**/api/conversations?*", (route) => route.fulfill({ status: 500, json: { error: { code: "internal", message: "Something went wrong." } } }));
    await page.goto("/");
    await conversations().getByText("Something went wrong.").waitFor();
    await page.unroute("**/api/conversations?*");
    await conversations().getByRole("button", { name: "Try again" }).click();
    await page.getByText("Your chats will appear here.").waitFor();
  });
});

describe("the documents panel", () => {
  eachANewPerson();

  const note = (n) => ({ name: `Note ${n}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# Note ${n}\n\nThe number of this note is ${n}.\n`) });

  it("uploads several at once, shows their text, and deletes them", async () => {
    await page.goto("/");
    await openDocuments(page);
    await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles([1, 2, 3, 4].map(note));
    for (const n of [1, 2, 3, 4]) await ready(page, `Note ${n}`);
    await shot(page, "shell-05-documents");
    await page.getByRole("button", { name: "Open Note 3" }).click();
    await page.getByRole("region", { name: "Text of Note 3" }).getByText("The number of this note is 3.").waitFor();
    await page.getByRole("button", { name: "Back to all documents" }).click();

    await documents(page).filter({ hasText: "Note 2" }).hover();
    await page.getByRole("button", { name: "Delete Note 2" }).click();
    await hold("was deleted");
    await documents(page).filter({ hasText: "Note 2" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("was deleted").waitFor({ state: "detached" });
    await documents(page).filter({ hasText: "Note 2" }).waitFor();
    await page.getByRole("button", { name: "Delete Note 2" }).click();
    await hold("was deleted");
    const gone = page.waitForResponse((r) => r.request().method() === "DELETE");
    await page.getByRole("button", { name: "Dismiss" }).click();
    assert.equal((await gone).status(), 204);
    await page.reload();
    await openDocuments(page);
    await ready(page, "Note 1");
    assert.equal(await documents(page).filter({ hasText: "Note 2" }).count(), 0);
  });

  it("shows failed and processing documents", async () => {
    await page.goto("/");
    await openDocuments(page);
    expectRefusal(faults, 415);
    await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles([{ name: "picture.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) }]);
    const refused = page.getByRole("alert").filter({ hasText: "picture.bin: " });
    await refused.waitFor();
    await page.getByRole("button", { name: "Dismiss picture.bin" }).click();
    await refused.waitFor({ state: "detached" });

    const doc = { id: "00000000-0000-4000-8000-000000000001", title: "Slow one", status: "processing", progress: 40, source_type: "upload", format: "pdf", bytes: 1e6, chunks: 0, public: false, created_at: new Date().toISOString() };
    const broken = { ...doc, id: "00000000-0000-4000-8000-000000000002", title: "Broken one", status: "failed", error: "The file contains no text.", message_code: "document.no_text" };
    const imported = { ...doc, id: "00000000-0000-4000-8000-000000000003", title: "Imported one", status: "ready", source_type: "google_drive", source_url: "https://drive.google.com/file/d/1AbCdEfGhIj/view" };
    const unsafe = { ...imported, id: "00000000-0000-4000-8000-000000000004", title: "Unsafe one", source_url: "javascript:alert(1)" };
    await page.route("**/api/documents?*", (route) => route.fulfill({ json: { items: route.request().url().includes("conversation_id=") ? [] : [doc, broken, imported, unsafe] } }));
    await page.reload();
    await openDocuments(page);
    await documents(page).filter({ hasText: "Slow one" }).getByText("Processing… 40%").waitFor();
    await documents(page).filter({ hasText: "Broken one" }).getByText("This file contains no text.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Open Slow one" }).isDisabled(), true);
    await documents(page).filter({ hasText: "Imported one" }).getByText("PDF · 1.0 MB · Google Drive · ").waitFor();
    assert.equal(await page.getByRole("link", { name: "Source of Imported one" }).getAttribute("href"), imported.source_url);
    assert.equal(await page.getByRole("link", { name: "Source of Unsafe one" }).count(), 0);
  });

  it("makes sets, which can be mentioned, changes and deletes them", async () => {
    await page.goto("/");
    for (const n of [1, 2]) {
      await upload(page, note(n).name, note(n).buffer.toString());
      await ready(page, `Note ${n}`);
    }
    await page.getByRole("tab", { name: "Sets" }).click();
    await page.getByRole("button", { name: "New set" }).click();
    const dialog = page.getByRole("dialog", { name: "New set" });
    assert.equal(await dialog.getByRole("button", { name: "Save" }).isDisabled(), true);
    await dialog.getByLabel("Name").fill("All notes");
    await dialog.getByRole("checkbox", { name: "Note 1" }).check();
    await shot(page, "shell-06-set");
    await dialog.getByRole("button", { name: "Save" }).click();
    const set = page.getByRole("list", { name: "Sets" }).getByRole("listitem").filter({ hasText: "All notes" });
    await set.getByText("Note 1").waitFor();
    await set.getByRole("button", { name: "Edit All notes" }).click();
    await page.getByRole("checkbox", { name: "Note 2" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await set.getByText(/Note 1, Note 2|Note 2, Note 1/).waitFor();

    const sent = posts("/api/ui/chat");
    await composer(page).pressSequentially("What is the number ");
    await mention(page, "All notes");
    await composer(page).press("Enter");
    await page.waitForURL(/\/chat\//);
    await replied(page);
    assert.equal(sent[0].tagged_set_ids.length, 1);

    await set.getByRole("button", { name: "Delete All notes" }).click();
    await hold("was deleted");
    await set.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.reload();
    await openDocuments(page);
    await page.getByRole("tab", { name: "Sets" }).click();
    await page.getByText("Group documents, then type @name").waitFor();
    assert.equal(await set.count(), 0);
  });

  it("shows which documents the conversation knows", async () => {
    await page.goto("/");
    await upload(page, note(7).name, note(7).buffer.toString());
    await ready(page, "Note 7");
    await composer(page).pressSequentially("Summarize ");
    await mention(page, "Note 7");
    await composer(page).press("Enter");
    await answer(page, 1);
    await page.getByRole("region", { name: "In this chat" }).getByRole("button", { name: "Note 7" }).click();
    await page.getByRole("region", { name: "Text of Note 7" }).waitFor();
  });

  it("shows a hostile title and a hostile text as plain text", async () => {
    await page.goto("/");
    const evil = `<img src=x onerror="window.bad=1"><script>window.bad=1</script>`;
    const made = await page.request.post("/api/documents", { data: { title: evil, text: `${evil} stands here.` } });
    assert.equal(made.status(), 202);
    await page.reload();
    await openDocuments(page);
    await ready(page, evil);
    await page.getByRole("button", { name: `Open ${evil}` }).click();
    await page.getByText(`${evil} stands here.`).waitFor();
    await composer(page).pressSequentially("Summarize ");
    await mention(page, evil);
    await composer(page).press("Enter");
    await replied(page);
    assert.equal(await page.evaluate(() => window.bad), undefined);
    assert.equal(await page.locator("img[src=x]").count(), 0);
  });
});

describe("a narrow window", () => {
  eachANewPerson({ ...desktop, viewport: { width: 1024, height: 800 } });

  it("has the documents over the conversation, not beside it", async () => {
    await page.goto("/");
    const message = await box(messageForm(page));
    await openDocuments(page);
    await page.getByRole("dialog", { name: "Library" }).waitFor();
    assert.equal((await box(page.locator("form[aria-label=Message]"))).width, message.width);
    await shot(page, "shell-15-documents-1024");
    await page.setViewportSize({ width: 1200, height: 800 });
    await page.getByRole("complementary", { name: "Library" }).waitFor();
  });
});

describe("a chunk that fails to load", () => {
  eachANewPerson();

  it("shows an error in its place, and the rest works", async () => {
    await page.route("**/DocumentsPanel-*.js", (route) => route.abort());
    await page.goto("/");
    await page.getByRole("button", { name: /^Library/ }).click();
    await page.getByText("This part of the page couldn't be shown.").waitFor();
    await composer(page).fill("Still here");
    await page.unroute("**/DocumentsPanel-*.js");
    await page.getByRole("button", { name: "Reload page" }).click();
    await composer(page).getByText("Still here").waitFor();
    await openDocuments(page);
    const provoked = /ERR_FAILED|Failed to fetch dynamically|This part of the page failed/;
    faults.splice(0, faults.length, ...faults.filter((f) => !provoked.test(f)));
  });
});

describe("the theme", () => {
  eachANewPerson();

  it("is light or dark as chosen, and stays so after a reload and in the other tab", async () => {
    await page.goto("/");
    const other = await context.newPage();
    await other.goto("/");
    const paper = (p) => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper(page);
    await page.getByRole("button", { name: "Theme" }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, light);
    await other.waitForFunction((was) => getComputedStyle(document.body).backgroundColor !== was, light, { polling: 100 }); // a background tab draws no frames
    await page.reload();
    await composer(page).waitFor();
    assert.notEqual(await paper(page), light);
    await page.getByRole("button", { name: "Theme" }).click();
    await page.getByRole("menuitemradio", { name: "System" }).click();
    await page.waitForFunction((was) => getComputedStyle(document.body).backgroundColor === was, light);
  });
});

for (const [name, look] of Object.entries({ light: undefined, dark })) {
  describe(`axe, ${name}`, () => {
    eachANewPerson(look);

    it("finds no violations in any state of the shell", async () => {
      const check = async (state) => assert.deepEqual(await axe(page), [], state);
      await page.goto("/");
      await composer(page).pressSequentially("@");
      await page.getByRole("listbox").waitFor();
      await check("mentions");
      await composer(page).press("Escape");
      await composer(page).fill("What about liquidity?");
      await check("welcome");
      await composer(page).press("Enter");
      await replied(page);
      await check("thread");
      await shot(page, `shell-07-thread-${name}`);
      await openDocuments(page);
      await check("documents");
      await page.getByRole("tab", { name: "Sets" }).click();
      await page.getByRole("button", { name: "New set" }).click();
      await page.getByRole("dialog").waitFor();
      await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
      await check("dialog");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Theme" }).click();
      await page.getByRole("menu").waitFor();
      await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
      await check("menu");
      await page.keyboard.press("Escape");
      await fromMenu("liquidity", "Delete");
      await hold("was deleted");
      await page.getByRole("button", { name: "Undo" }).waitFor();
      await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
      await check("notice");
    });
  });
}

describe("by keyboard alone", () => {
  eachANewPerson();

  /** Tabs until the element of that role and name has the focus. */
  const tabTo = async (role, name) => {
    const target = page.getByRole(role, { name });
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press("Tab");
      if (await target.evaluateAll((all) => all.includes(document.activeElement))) return;
    }
    assert.fail(`no way to ${role} ${name}`);
  };

  it("a user can ask, rename, delete, undo, and open and close the documents", async () => {
    await page.goto("/");
    await page.waitForFunction(() => document.activeElement?.classList.contains("composer-text")); // the welcome page focuses the message box
    await page.keyboard.type("What about liquidity?");
    await page.keyboard.press("Enter");
    await replied(page);
    await row("liquidity").waitFor();

    await tabTo("button", /^Options for What about/);
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Rename" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("aria-label") === "Title");
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Enter");
    await row("By keyboard").waitFor();

    await tabTo("button", /^Library/);
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Library" }).waitFor();
    await page.locator('[role="tab"][tabindex="0"]').waitFor();
    await tabTo("tab", "Documents");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "New set" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("complementary", { name: "Library" }).waitFor({ state: "detached" });
    assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ""), /Library/);

    await tabTo("button", "Options for By keyboard");
    await page.keyboard.press("Enter");
    await page.locator('[role="menuitem"]:focus').waitFor();
    await page.keyboard.press("End"); // goes to the last item, Delete
    await page.getByRole("menuitem", { name: "Delete" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await row("By keyboard").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.keyboard.press("F6"); // goes to the notices
    await tabTo("button", "Undo");
    await page.keyboard.press("Enter");
    await row("By keyboard").waitFor();
  });

  it("shortcuts go to the search, a new conversation and the message, and there is a list of them", async () => {
    const focused = (selector) => page.waitForFunction((s) => document.activeElement?.matches(s), selector);
    await page.goto("/");
    await focused(".composer-text");
    await page.keyboard.type("What about liquidity?");
    await page.keyboard.press("Enter");
    await replied(page);
    await focused(".composer-text"); // after sending, the message box keeps the focus

    await page.keyboard.press("Control+k");
    await focused("[type=search]");
    await page.keyboard.press("Shift+Escape");
    await focused(".composer-text");
    await page.keyboard.press("Control+Shift+O");
    await page.waitForURL(/\/$/);
    await focused(".composer-text");
    await page.keyboard.press("Control+/");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await list.getByText("Search chats").waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "shell-12-keyboard");
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("Control+/");
    await list.getByRole("button", { name: "Close Keyboard shortcuts" }).click();
    await list.waitFor({ state: "detached" });

    await page.getByText("Palaver", { exact: true }).click(); // Tab continues from here; only the first stop comes before
    await page.keyboard.press("Shift+Tab");
    await page.getByRole("button", { name: "Skip to message box" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await focused(".composer-text");
  });
});

describe("on a phone", () => {
  eachANewPerson(phone);

  it("everything is there and nothing is wider than the screen", async () => {
    const narrow = async (state) => assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${state} is too wide`);
    await page.goto("/");
    await composer(page).waitFor();
    await narrow("welcome");
    await shot(page, "shell-08-phone");
    await composer(page).tap();
    await page.keyboard.type("@");
    await page.getByRole("listbox", { name: "Mentions" }).waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "shell-08-phone-mentions");
    await clear(page);
    await ask(page, "What about liquidity?");
    await replied(page);
    await narrow("thread");
    await page.getByRole("button", { name: "Chats" }).click();
    const drawer = page.getByRole("dialog", { name: "Chats" });
    await drawer.getByRole("link", { name: /liquidity/ }).waitFor();
    await shot(page, "shell-09-phone-conversations");
    await drawer.getByRole("button", { name: "New chat" }).click();
    await drawer.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await page.getByRole("button", { name: /^Library/ }).click();
    const panel = page.getByRole("dialog", { name: "Library" });
    await panel.getByRole("button", { name: /^Open / }).first().click();
    await panel.getByRole("region", { name: /^Text of/ }).waitFor();
    await narrow("documents");
    await shot(page, "shell-10-phone-document");
    await panel.getByRole("button", { name: "Close Library" }).click();
    await panel.waitFor({ state: "detached" });
    assert.deepEqual(await axe(page), []);
  });

  it("a conversation has a link to a new one, and touch targets are large enough", async () => {
    const large = async (locator) => {
      for (const one of await locator.filter({ visible: true }).all()) {
        const { width, height } = await box(one);
        assert.ok(width >= 44 && height >= 44, `${await one.evaluate((el) => el.outerHTML)} is ${width} by ${height}`);
      }
    };
    await page.goto("/");
    await large(messageForm(page).getByRole("button"));
    await large(page.getByRole("list", { name: "Suggestions" }).getByRole("button"));
    await page.getByRole("button", { name: /^Mode:/ }).tap();
    await page.getByRole("menuitemradio", { name: "Assistant" }).waitFor();
    await large(page.getByRole("menuitemradio"));
    await shot(page, "shell-16-phone-agents");
    await page.keyboard.press("Escape");
    await ask(page, "What about liquidity?");
    await answer(page, 1);
    await large(page.getByRole("banner").getByRole("button"));
    await large(page.getByRole("button", { name: /^(Copy (message|answer)|Edit message|Regenerate)$/ }));
    await shot(page, "shell-17-phone-thread");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Chats" }).tap();
    const drawer = page.getByRole("dialog", { name: "Chats" });
    await drawer.getByRole("link", { name: /liquidity/ }).waitFor();
    await drawer.getByRole("searchbox").fill("liquidity");
    await large(drawer.getByRole("button"));
    await large(drawer.getByRole("link"));
    await shot(page, "shell-18-phone-search");
    await drawer.getByRole("button", { name: "Close Chats" }).tap();
    await page.getByRole("button", { name: "New chat" }).tap();
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "New chat" }).count(), 0);
  });

  it("a notice covers neither the top of a drawer nor the message", async () => {
    await page.goto("/");
    for (const text of ["What about liquidity?", "What about outsourcing?"]) {
      if (new URL(page.url()).pathname !== "/") await page.getByRole("button", { name: "New chat" }).tap();
      await ask(page, text);
      await answer(page, 1);
      await yours().getByText(text).waitFor();
    }
    await page.getByRole("button", { name: "Chats" }).tap();
    const drawer = page.getByRole("dialog", { name: "Chats" });
    await drawer.getByRole("button", { name: /^Options for What about liquidity/ }).tap();
    await page.getByRole("menuitem", { name: "Delete" }).tap();
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.hover(); // a notice stays while the pointer is over it
    for (const used of [drawer.getByRole("button", { name: "New chat" }), drawer.getByRole("searchbox"), drawer.getByRole("link", { name: /outsourcing/ })])
      assert.ok(!covers(await box(notice()), await box(used)), `the notice covers ${used}`);
    await shot(page, "shell-19-phone-notice");
    await drawer.getByRole("button", { name: "Close Chats" }).tap();
    await drawer.waitFor({ state: "detached" });
    await undo.hover();
    assert.ok(!covers(await box(notice()), await box(messageForm(page))), "the notice covers the message");
    await undo.tap();
    await page.getByRole("button", { name: "Chats" }).tap();
    await row("liquidity").waitFor();
  });

  it("the dialog of a set dims the documents, and a long title does not overflow", async () => {
    await page.goto("/");
    await addDocument(page, LONG, "The hall was full.");
    await page.reload();
    await page.getByRole("button", { name: /^Library/ }).tap();
    await page.getByRole("tab", { name: "Sets" }).tap();
    await page.getByRole("button", { name: "New set" }).tap();
    const dialog = page.getByRole("dialog", { name: "New set" });
    await dialog.getByText(LONG).waitFor();
    const outer = await box(dialog);
    const inner = await box(dialog.getByRole("group", { name: "Documents" }));
    assert.ok(inner.right < outer.right, "the list of documents is wider than the dialog");
    assert.equal(await dialog.evaluate((el) => el.scrollWidth - el.clientWidth), 0);
    await shot(page, "shell-20-phone-set");
    assert.deepEqual(await axe(page), []);
    assert.equal(await page.evaluate(() => document.elementFromPoint(20, 20).closest("[data-drawer]")), null, "the drawer lies under the dimming");
    await dialog.getByRole("button", { name: "Close New set" }).tap();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Sets" }).waitFor();
  });
});

describe("while a turn runs", () => {
  // An answer that runs until it is stopped.
  const slow = useSecondStack(Array.from({ length: 10_000 }, (_, i) => `Word${i} `), 40);

  beforeEach(async () => {
    await arrive(desktop, slow.stack.url);
    await page.goto("/");
    await ask(page, "What about liquidity?");
    await page.getByText("Word3 ").waitFor();
  });

  leaveNoFaults();

  const interrupted = () => page.locator("span").filter({ hasText: /^(You stopped this answer|This answer was interrupted)$/ });

  it("Esc stops it, unless it closes a list or a dialog", async () => {
    await composer(page).pressSequentially("@");
    await page.getByRole("listbox").waitFor();
    await composer(page).press("Escape");
    await page.getByRole("listbox").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Theme" }).click();
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    assert.equal(await interrupted().count(), 0);
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    await composer(page).press("Escape");
    await interrupted().waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
  });

  it("Enter supersedes it, Ctrl+Enter queues behind it, and typing is always possible", async () => {
    const sent = posts("/api/ui/chat");
    await composer(page).pressSequentially("And outsourcing?");
    await shot(page, "shell-11-running");
    await composer(page).press("ControlOrMeta+Enter");
    await composer(page).pressSequentially("No, capital!");
    await composer(page).press("Enter");
    await interrupted().first().waitFor();
    assert.deepEqual(sent.map((b) => b.on_busy).sort(), ["enqueue", "supersede"]);
    assert.equal(await composer(page).textContent(), "");
    await page.getByRole("button", { name: "Stop", exact: true }).click();
  });
});
