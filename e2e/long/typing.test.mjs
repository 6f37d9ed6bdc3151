// Typing with a keyboard or on a touch screen: where the focus goes, that nothing
// steals it, and input in any language.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, ask, assist, axe, composer, desktop, documents, expectRefusal, messageForm, openDocuments, phone, ready, shot, upload } from "../browser.mjs";
import { arrive, context, faults, leaveNoFaults, page, useSecondStack, useStack } from "../suite.mjs";
import { addDocument, conversation, interrupted, many, stop, writing, yours } from "../thread.mjs";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const NOTES = { name: "Notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Notes\n\nThe clock is wound at seven.\n") };
const ODD = { name: "odd.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) };
const BOTH = "Summarize and audit the remote work policy";
const HEBREW = "מדיניות עבודה מרחוק";

useStack();

const open = async (look, url) => {
  await arrive(look, url);
  await page.goto("/");
};

leaveNoFaults();

const focused = (locator) => locator.and(page.locator(":focus")).waitFor();
const conversations = () => page.getByRole("navigation", { name: "Chats" });
const row = (title) => conversations().getByRole("listitem").filter({ hasText: title });
const more = (title) => row(title).getByRole("button", { name: /^Options for/ });
const attach = (...files) => page.locator("form input[type=file]").setInputFiles(files);
const submit = () => messageForm(page).getByRole("button", { name: /^(Send|Stop and send)$/ });

/** Picks an item of a conversation's menu by keyboard. */
async function fromMenu(title, item) {
  await more(title).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: item }).press("Enter");
}

/** Starts conversations by the API; the last one is first in the list. */
async function begin(...titles) {
  for (const text of titles) {
    const sent = await page.request.post("/api/ui/chat", { data: { id: crypto.randomUUID(), message: { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] } } });
    assert.ok(sent.ok(), `message rejected: ${sent.status()}`);
  }
  await page.reload();
  await row(titles[0]).waitFor();
}

const ABOUT = ["What about liquidity?", "What about outsourcing?", "What about remote work?", "What about capital?"];

/** Delays the response to a POST until it is released. */
async function holdBack(address) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(address, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

describe("a notice", () => {
  beforeEach(() => open());

  it("does not block shortcuts, and neither do four, each with undo", async () => {
    await begin(...ABOUT);
    for (const title of ABOUT) {
      await fromMenu(title, "Delete");
      await row(title).waitFor({ state: "detached" });
      await page.getByText(`“${title}” was deleted.`).hover(); // a notice stays while the pointer is over it
    }
    const undo = page.getByRole("button", { name: "Undo" });
    await many(undo.filter({ visible: true }), 4);
    assert.deepEqual(await axe(page), []);
    await shot(page, "90-four-notices");
    await page.keyboard.press("Control+k");
    await focused(page.getByRole("searchbox", { name: "Search chats" }));
    await page.keyboard.press("Shift+Escape");
    await focused(composer(page));
    await page.keyboard.press("Control+/");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Control+k"); // must do nothing while a dialog is open
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
    await many(undo, 4);
    for (let left = 4; left > 0; left--) {
      await undo.last().click();
      await many(undo, left - 1);
    }
    for (const title of ABOUT) await row(title).waitFor();
  });
});

describe("a document that has been uploaded", () => {
  beforeEach(() => open());

  it("is mentioned where the message ended when it was attached, and does not move the caret", async () => {
    const arrive = await holdBack("**/api/documents");
    await attach(NOTES);
    await composer(page).pressSequentially("Summarize poly now");
    for (let i = 0; i < "y now".length; i++) await composer(page).press("ArrowLeft");
    arrive();
    await composer(page).locator(".mention").waitFor();
    await page.keyboard.type("ic");
    assert.equal(await composer(page).textContent(), "@Notes Summarize policy now");
  });

  it("does not steal the focus", async () => {
    const arrive = await holdBack("**/api/documents");
    await attach(NOTES);
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.pressSequentially("reg");
    arrive();
    await composer(page).locator(".mention").waitFor();
    await page.keyboard.type("ister");
    assert.equal(await search.inputValue(), "register");
    assert.equal(await composer(page).textContent(), "@Notes ");
  });
});

describe("the focus", () => {
  beforeEach(() => open());

  it("goes to the composer after sending with the button and after removing a file", async () => {
    expectRefusal(faults, 415);
    await attach({ name: "plan.png", mimeType: "image/png", buffer: PNG }, ODD);
    await page.getByRole("img", { name: "plan.png" }).waitFor();
    await page.getByRole("alert").filter({ hasText: "odd.bin" }).waitFor();
    for (const name of ["odd.bin", "plan.png"]) {
      await page.getByRole("button", { name: `Remove ${name}` }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: `Remove ${name}` }).waitFor({ state: "detached" });
      await focused(composer(page));
    }
    await ask(page, ABOUT[0]);
    await answer(page, 1);
    await composer(page).fill(ABOUT[1]);
    await submit().click();
    await answer(page, 2);
    await focused(composer(page));
    await page.keyboard.type("And");
    assert.equal(await composer(page).textContent(), "And");
  });

  it("returns to the conversation after renaming or cancelling, unless the focus has moved", async () => {
    await begin(ABOUT[0]);
    const title = page.getByRole("textbox", { name: "Title" });
    await fromMenu(ABOUT[0], "Rename");
    await focused(title);
    await title.fill("Money");
    await title.press("Enter");
    await focused(more("Money"));
    await fromMenu("Money", "Rename");
    await focused(title);
    await title.press("Escape");
    await focused(more("Money"));
    await fromMenu("Money", "Rename");
    await focused(title);
    await title.fill("Cash");
    await composer(page).click();
    await row("Cash").waitFor();
    await focused(composer(page));
  });

  it("goes to the next row after a deletion, to the previous one after the last, and then above the list", async () => {
    await begin(ABOUT[0], ABOUT[1], ABOUT[2]); // the list has the newest first
    await fromMenu(ABOUT[1], "Delete");
    await focused(more(ABOUT[0]));
    await fromMenu(ABOUT[0], "Delete");
    await focused(more(ABOUT[2]));
    await fromMenu(ABOUT[2], "Delete");
    await focused(page.getByRole("button", { name: "Select chats" }));
  });

  it("goes to the composer when the open conversation is deleted", async () => {
    await ask(page, ABOUT[0]);
    await answer(page, 1);
    await fromMenu(ABOUT[0], "Delete");
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await focused(composer(page));
  });

  it("stays in the list when a document, a set or a rejected upload is removed", async () => {
    const ids = [await addDocument(page, "Tides", "High water is at noon."), await addDocument(page, "Lights", "The light is lit at seven.")];
    await page.request.post("/api/document-sets", { data: { name: "Harbour", doc_ids: ids } });
    await page.reload();
    await openDocuments(page);
    await page.getByRole("tab", { name: "Sets" }).click();
    await page.getByRole("button", { name: "Delete Harbour" }).press("Enter");
    await focused(page.getByRole("button", { name: "New set" }));
    await page.getByRole("tab", { name: "Documents" }).click();
    const names = await documents(page).getByRole("button", { name: /^Delete/ }).evaluateAll((all) => all.map((b) => b.getAttribute("aria-label").slice("Delete ".length)));
    assert.equal(names.length, 2);
    await page.getByRole("button", { name: `Delete ${names[0]}` }).press("Enter");
    await focused(page.getByRole("button", { name: `Open ${names[1]}` }));
    expectRefusal(faults, 415);
    await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles([ODD, { ...ODD, name: "odder.bin" }]);
    await page.getByRole("button", { name: "Dismiss odd.bin" }).press("Enter");
    await focused(page.getByRole("button", { name: "Dismiss odder.bin" }));
    await page.keyboard.press("Enter");
    await focused(page.getByRole("button", { name: /^Add documents/ }));
  });

  it("stays in the composer, and comes back to it, while a question is open", async () => {
    await ask(page, BOTH);
    await assist(page).waitFor();
    await focused(composer(page));
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.focus();
    await page.keyboard.press("Shift+Escape");
    await focused(composer(page));
    await page.getByRole("button", { name: "Skip to message box" }).focus();
    await page.keyboard.press("Enter");
    await focused(composer(page));
    await assist(page).getByRole("button", { name: "Cancel" }).click();
    await assist(page).waitFor({ state: "detached" });
  });
});

describe("on a touch screen", () => {
  beforeEach(() => open(phone));

  it("Enter breaks the line, the button sends, and no keyboard comes up afterwards", async () => {
    assert.equal(await composer(page).getAttribute("enterkeyhint"), "enter");
    await composer(page).tap();
    await page.keyboard.type("What about");
    await page.keyboard.press("Enter");
    await page.keyboard.type("liquidity?");
    assert.equal(new URL(page.url()).pathname, "/");
    assert.equal(await submit().getAttribute("title"), "Send");
    await shot(page, "91-phone-two-lines");
    await submit().tap();
    await yours(page).getByText("What about\nliquidity?").waitFor();
    await answer(page, 1);
    await many(composer(page).and(page.locator(":focus")), 0);
    await composer(page).fill("And outsourcing?");
    await submit().tap();
    await answer(page, 2);
    await many(composer(page).and(page.locator(":focus")), 0);
  });

  it("Enter also breaks the line in an edited message", async () => {
    await ask(page, ABOUT[0]);
    await answer(page, 1);
    await page.getByRole("button", { name: "Edit message" }).tap();
    const box = page.getByRole("textbox", { name: "Edited message" });
    await focused(box);
    await page.keyboard.press("Enter");
    await page.keyboard.type("In short.");
    await page.getByRole("form", { name: "Edit message" }).getByRole("button", { name: "Send" }).tap();
    await yours(page).getByText(`${ABOUT[0]}\nIn short.`).waitFor();
  });
});

it("with a keyboard, Enter sends, and the button's title says so", async () => {
  await open();
  assert.equal(await composer(page).getAttribute("enterkeyhint"), "send");
  assert.equal(await submit().getAttribute("title"), "Send (Enter)");
});

describe("a screen reader", () => {
  it("announces once that a message is too long, and once that it is within the limit", async () => {
    await open();
    await page.evaluate(() => {
      window.heard = [];
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const region = (target instanceof Element ? target : target.parentElement)?.closest("form [role=status]");
          if (region?.textContent) window.heard.push(region.textContent);
        }
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await composer(page).fill("x".repeat(31_999));
    await page.getByText("31,999 of 32,000 characters").waitFor();
    await page.keyboard.type("xx");
    await page.getByText("32,001 of 32,000 characters").waitFor();
    await page.keyboard.type("x");
    await page.getByText("32,002 of 32,000 characters").waitFor();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Backspace");
    await page.getByText("31,999 of 32,000 characters").waitFor();
    assert.deepEqual(await page.evaluate(() => window.heard), ["Your message is too long. The limit is 32,000 characters.", "Your message is within the limit again."]);
  });
});

describe("right-to-left text", () => {
  it("has this direction in the message, the titles and the text of a document, next to English text", async () => {
    await open();
    const direction = (locator) => locator.evaluate((el) => getComputedStyle(el).direction);
    await addDocument(page, HEBREW, `${HEBREW}.`);
    await addDocument(page, "Tides", "High water is at noon.");
    await begin(HEBREW, ABOUT[0]);
    assert.equal(await direction(row(HEBREW).getByText(HEBREW)), "rtl");
    assert.equal(await direction(row(ABOUT[0]).getByText(ABOUT[0])), "ltr");
    await openDocuments(page);
    await ready(page, HEBREW);
    assert.equal(await direction(documents(page).getByText(HEBREW, { exact: true })), "rtl");
    assert.equal(await direction(documents(page).getByText("Tides", { exact: true })), "ltr");
    await page.getByRole("button", { name: `Open ${HEBREW}` }).click();
    const text = page.getByRole("region", { name: `Text of ${HEBREW}` });
    await text.getByText(`${HEBREW}.`).waitFor();
    assert.equal(await direction(text), "rtl");
    await composer(page).fill(HEBREW);
    assert.equal(await direction(composer(page)), "rtl");
    await shot(page, "92-right-to-left");
    await composer(page).fill("In English");
    assert.equal(await direction(composer(page)), "ltr");
    await row(HEBREW).getByRole("link").click();
    const heading = page.getByRole("heading", { level: 1 }).filter({ hasText: HEBREW });
    await heading.waitFor();
    assert.equal(await direction(heading), "rtl");
  });
});

describe("while an answer is written", () => {
  const slow = useSecondStack(["The clock ", "is wound ", "at seven."], 5);

  beforeEach(async () => {
    slow.model.hold = 1;
    await open(desktop, slow.stack.url);
    await addDocument(page, "Clocks", "The clock is wound at seven.");
    await ask(page, "When is the clock wound?");
    await writing(page).getByText("The clock").waitFor();
  });

  it("Esc stops it under a notice, but an Esc that closes a notice does not", async () => {
    for (const title of ["Tides", "Lights"]) {
      await upload(page, `${title}.md`, `# ${title}\n\nAt seven.\n`);
      await ready(page, title);
    }
    await page.getByRole("button", { name: "Delete Tides" }).click();
    const notice = page.getByText("“Tides” was deleted.");
    await notice.hover();
    await page.keyboard.press("F6"); // goes to the notices
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    await notice.waitFor({ state: "detached" });
    await many(interrupted(page), 0);
    await page.getByRole("button", { name: "Delete Lights" }).click();
    await page.getByText("“Lights” was deleted.").hover();
    await conversation(page).focus();
    await page.keyboard.press("Escape");
    await interrupted(page).waitFor();
  });

  it("the Esc of an input method does not stop it", async () => {
    const composing = [{ isComposing: true }, { keyCode: 229 }];
    const escape = (selector, how) =>
      page.evaluate(([at, init]) => document.querySelector(at).dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true, ...init })), [selector, how]);
    const ime = await context.newCDPSession(page);
    await composer(page).focus();
    await ime.send("Input.imeSetComposition", { text: "に", selectionStart: 1, selectionEnd: 1 });
    await composer(page).getByText("に").waitFor();
    await escape("form[aria-label=Message] .composer-text", { isComposing: true });
    await ime.send("Input.insertText", { text: "日" });
    for (const how of composing) for (const where of ["[type=search]", "main"]) await escape(where, how);
    await stop(page).and(page.locator(":enabled")).waitFor();
    await escape("main", {});
    await interrupted(page).waitFor();
    await page.getByRole("button", { name: "Edit message" }).click();
    const form = page.getByRole("form", { name: "Edit message" });
    await form.waitFor();
    for (const how of composing) await escape("form[aria-label='Edit message'] button", how);
    await form.waitFor();
    await escape("form[aria-label='Edit message'] button", {});
    await form.waitFor({ state: "detached" });
  });

  it("the focus goes to the composer when it is stopped with the button", async () => {
    await stop(page).focus();
    await page.keyboard.press("Enter");
    await focused(composer(page));
    await interrupted(page).waitFor();
    await focused(composer(page));
  });
});
