// Regressions that a review found: focus while typing, announcements to screen
// readers, layout shifts, dropped files, and browsers without storage.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, composer, expectRefusal, openDocuments, phone, sendButton, shot } from "../browser.mjs";
import { arrive, faults, leaveNoFaults, page, useStack } from "../suite.mjs";
import { assertSoon, conversation, history, many, startWithTools, stop, yours } from "../thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const SECOND = "What about customer data on private addresses?";
const ODD = { name: "odd.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) };

useStack();
beforeEach(() => arrive());
leaveNoFaults();

const focused = (locator) => locator.and(page.locator(":focus")).waitFor();
const choice = (name) => assist(page).getByRole("button", { name, exact: true });
const conversations = () => page.getByRole("navigation", { name: "Chats" });
const row = (title) => conversations().getByRole("listitem").filter({ hasText: title });

async function remove(title) {
  await row(title).hover();
  await row(title).getByRole("button", { name: /^Options for/ }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByText("was deleted").hover(); // a notice stays while the pointer is over it
}

/** Collects the bodies that the page posts to the chat from now on. */
function posts() {
  const bodies = [];
  page.on("request", (r) => r.method() === "POST" && new URL(r.url()).pathname === "/api/ui/chat" && bodies.push(r.postDataJSON()));
  return bodies;
}

describe("a question that arrives while the user types", () => {
  it("takes no key press as an approval", async () => {
    await startWithTools(page, "Hello");
    await answers(page).or(assist(page)).first().waitFor();
    let arrive;
    const arrival = new Promise((resolve) => (arrive = resolve));
    await page.route("**/api/ui/chat", async (route) => {
      await arrival;
      await route.continue();
    });
    const sent = posts();
    await ask(page, "draw a cat in a hat");
    await stop(page).waitFor();
    await composer(page).pressSequentially("and then");
    arrive();
    await choice("Approve").waitFor();
    await focused(composer(page));
    for (const key of ["Space", "a", "Backspace", "Backspace"]) await page.keyboard.press(key);
    await choice("Reject").click();
    await assist(page).waitFor({ state: "detached" });
    const answered = sent.filter((b) => b.resume);
    assert.equal(answered.length, 1);
    assert.equal(answered[0].resume.resume_value.decisions[0].decision, "rejected");
    assert.equal(await composer(page).textContent(), "and then");
  });

  it("preselects no decision about several calls", async () => {
    await startWithTools(page, "draw a cat and draw a dog");
    const asked = assist(page).getByRole("group", { name: "Generate image" });
    await many(asked, 2);
    await many(assist(page).getByRole("radio", { checked: true }), 0);
    await asked.nth(0).getByRole("radio", { name: "Approve" }).check();
    await choice("Send decisions").click();
    await asked.nth(1).getByText("Choose Approve or Reject.").waitFor();
    await many(assist(page).getByText("Choose Approve or Reject."), 1);
    assert.deepEqual(await axe(page), []);
    assert.equal((await history(page)).active_turn.status, "interrupted");
    await asked.nth(1).getByRole("radio", { name: "Reject" }).check();
    await choice("Send decisions").click();
    await assist(page).waitFor({ state: "detached" });
  });

  it("does not leave the page when a file is dropped on it", async () => {
    await page.goto("/");
    await ask(page, "Summarize and audit the remote work policy");
    await choice("Check against rules").waitFor();
    const [over, dropped] = await page.evaluate(() =>
      ["dragover", "drop"].map((type) => {
        const data = new DataTransfer();
        data.items.add(new File(["words"], "notes.md", { type: "text/markdown" }));
        return !document.querySelector("main").dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
      }),
    );
    assert.deepEqual([over, dropped], [true, true], "the browser does not open it");
    await composer(page).locator(".mention", { hasText: "notes" }).waitFor(); // it goes with the next message
    await choice("Cancel").click();
    await assist(page).waitFor({ state: "detached" });
  });
});

describe("a screen reader", () => {
  it("announces an answer when it is complete, and not when an old conversation is opened", async () => {
    await page.addInitScript(() => {
      window.heard = [];
      new MutationObserver(() => {
        const words = document.querySelector("[data-announcer]")?.textContent;
        if (words && window.heard.at(-1) !== words) window.heard.push(words);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    });
    const heard = () => page.evaluate(() => window.heard);
    await page.goto("/");
    await ask(page, QUESTION);
    await assertSoon(async () => (await heard()).length === 1, "the answer is announced");
    assert.deepEqual(await heard(), ["Answer ready"]);
    await page.reload();
    await answer(page, 1);
    await ask(page, SECOND);
    await answer(page, 2);
    await assertSoon(async () => (await heard()).length > 0, "the second answer is announced");
    assert.equal((await heard()).length, 1);
    assert.deepEqual(await heard(), ["Answer ready"]);
  });

  it("announces a rate limit once, not each second of the wait", async () => {
    await page.goto("/");
    expectRefusal(faults, 429);
    await page.route("**/api/ui/chat", (route) => route.fulfill({ status: 429, headers: { "Retry-After": "600" }, json: { error: { code: "rate_limited", message: "Too many messages." } } }));
    await ask(page, QUESTION);
    await page.getByRole("button", { name: /^Try again in \d+ s$/ }).waitFor();
    assert.doesNotMatch(await page.getByRole("alert").textContent(), /\d/);
    assert.deepEqual(await axe(page), []);
  });

  it("finds a rejected file in a list element", async () => {
    await page.goto("/");
    expectRefusal(faults, 415);
    await page.locator("form input[type=file]").setInputFiles(ODD);
    await page.getByRole("list", { name: "Attachments" }).getByRole("listitem").waitFor();
    await page.getByRole("alert").waitFor();
    await openDocuments(page);
    await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles(ODD);
    await page.getByRole("list", { name: "Uploads" }).getByRole("listitem").waitFor();
    assert.deepEqual(await axe(page), []);
  });

  it("finds one main heading on every page", async () => {
    const first = page.getByRole("heading", { level: 1 });
    await page.goto("/");
    await many(first, 1);
    assert.equal(await first.textContent(), "Ask your documents");
    await ask(page, QUESTION);
    await first.filter({ hasText: QUESTION }).waitFor();
    await many(first, 1);
  });
});

describe("a keyboard user", () => {
  it("sees that the conversation has the focus", async () => {
    await page.goto("/");
    await ask(page, QUESTION);
    await answer(page, 1);
    await page.keyboard.press("Shift");
    await conversation(page).focus();
    const { outlineStyle, outlineWidth } = await conversation(page).evaluate((el) => getComputedStyle(el));
    assert.deepEqual([outlineStyle, outlineWidth], ["solid", "2px"]);
  });
});

describe("a deletion that was undone", () => {
  it("is in the list again, and does not navigate away from the current page", async () => {
    await page.goto("/");
    await ask(page, QUESTION);
    await answer(page, 1);
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await ask(page, SECOND);
    await answer(page, 1);
    await remove("customer data");
    await row("customer data").waitFor({ state: "detached" });
    await row("How many days").getByRole("link").click();
    await yours(page).getByText(QUESTION).waitFor();
    const there = page.url();
    await page.getByRole("button", { name: "Undo" }).click();
    await row("customer data").waitFor();
    await page.getByText("was deleted").waitFor({ state: "detached" });
    assert.equal(page.url(), there);
    await yours(page).getByText(QUESTION).waitFor();
  });
});

describe("on a phone", () => {
  it("fields have a font size that iOS does not zoom to, and a notice does not cover Send", async () => {
    await arrive(phone);
    await page.goto("/");
    await ask(page, QUESTION);
    await answer(page, 1);
    const size = (locator) => locator.evaluate((el) => Number.parseFloat(getComputedStyle(el).fontSize));
    assert.equal(await size(composer(page)), 16);
    await page.getByRole("button", { name: "Chats" }).click();
    assert.equal(await size(page.getByRole("searchbox")), 16);
    await row("How many days").getByRole("button", { name: /^Options for/ }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    const undo = page.getByRole("button", { name: "Undo" });
    await undo.waitFor();
    await page.evaluate(() => Promise.all(document.getAnimations().map((a) => a.finished)));
    await shot(page, "80-phone-notice");
    const notice = await undo.boundingBox();
    const send = await sendButton(page).boundingBox();
    assert.ok(notice.y + notice.height < send.y, "the notice must be above the Send button");
  });
});

describe("a browser without storage", () => {
  it("the page works, and forgets", async () => {
    await page.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException("The operation is insecure.", "SecurityError");
          },
        });
    });
    await page.goto("/");
    await page.getByRole("button", { name: "Theme" }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await ask(page, QUESTION);
    await answer(page, 1);
    await composer(page).fill("a later thought");
    await page.getByRole("button", { name: "New chat" }).click();
    await row("How many days").getByRole("link").click();
    await composer(page).getByText("a later thought").waitFor();
    await page.reload();
    await answer(page, 1);
    assert.equal(await composer(page).textContent(), "");
  });
});
