// Links and imports on the page. Tests of required scenarios have the scenarios' names.
import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, composer, dark, desktop, documents, openDocuments, phone, ready, send, shot } from "./browser.mjs";
import { DOC, linkTo, startGoogle } from "./google.mjs";
import { arrive, faults, leaveNoFaults, page, useStack } from "./suite.mjs";
import { many } from "./thread.mjs";

let google;
useStack(async () => {
  google = await startGoogle();
  return google.settings;
});
after(() => google?.stop());

const chips = () => page.getByRole("list", { name: "Links" }).getByRole("listitem");
const card = (name) => page.getByRole("group", { name: `Import of ${name}` });
const state = (name, is) => page.locator(`[data-import-state=${is}]`).and(card(name)).waitFor();
const account = () => page.getByRole("button", { name: "Settings" });
const item = (name) => page.getByRole("menuitem", { name });
const notice = (text) => page.getByRole("region", { name: /^Notifications/ }).getByText(text);

/** Ignores the fault of a request to another host when the host is the fake Google. */
function goesToGoogle() {
  const keep = faults.push.bind(faults);
  const value = (fault) => (fault.includes(google.url) ? faults.length : keep(fault));
  Object.defineProperty(faults, "push", { value, configurable: true });
}

/** Pastes a text into the composer. */
const paste = (text) =>
  composer(page).evaluate((el, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    el.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);

const eachANewPerson = (look = desktop) => {
  beforeEach(async () => {
    google.files.clear();
    google.account = "ann@example.com";
    await arrive(look);
    goesToGoogle();
    await page.goto("/");
    await composer(page).waitFor();
  });
  leaveNoFaults();
};

describe("a link in the composer", () => {
  eachANewPerson();

  for (const [scenario, link, says] of [
    ["Detect Google Drive file link", linkTo(DOC), "Google Drive file drive.google.com"],
    ["Detect Google Drive open link format", `https://drive.google.com/open?id=${DOC}`, "Google Drive file drive.google.com"],
    ["Detect Google Docs links", `https://docs.google.com/document/d/${DOC}/edit`, "Google Doc docs.google.com"],
    ["Detect Google Sheets links", `https://docs.google.com/spreadsheets/d/${DOC}/edit#gid=0`, "Google Sheet docs.google.com"],
    ["Detect Google Slides links", `https://docs.google.com/presentation/d/${DOC}/edit`, "Google Slides docs.google.com"],
    ["a page of another site", "https://example.com/report.pdf", "Web page example.com"],
  ]) {
    it(`${scenario}: it becomes a chip that says what it is`, async () => {
      await paste(`What is in ${link}?`);
      await chips().waitFor();
      assert.equal((await chips().innerText()).trim(), says);
    });
  }

  it("Multiple links in single message: each is a chip, each can be removed with its link", async () => {
    await paste(`Compare ${linkTo(DOC)} with https://docs.google.com/document/d/${DOC}2/edit, please`);
    await many(chips(), 2);
    await shot(page, "9-imports-chips");
    await chips().first().getByRole("button", { name: "Remove Google Drive file drive.google.com" }).click();
    await many(chips(), 1);
    assert.equal((await composer(page).innerText()).trim(), `Compare with https://docs.google.com/document/d/${DOC}2/edit, please`);
    assert.ok(await composer(page).evaluate((el) => el.contains(document.activeElement)));
  });

  it("Invalid Google Drive URL format: it says so before it is sent", async () => {
    await paste("https://drive.google.com/file/d/nothing");
    await chips().getByText("That doesn't look like a valid Google Drive link. Please paste a link that looks like: https://drive.google.com/file/d/...").waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "9-imports-malformed");
  });

  it("does not complain about a link that is still being typed", async () => {
    await composer(page).pressSequentially("https://drive.google.com/file/d/", { delay: 5 });
    await composer(page).pressSequentially(`${DOC}/view`, { delay: 5 });
    await chips().waitFor();
    assert.match(await chips().innerText(), /^Google Drive file/);
  });
});

describe("the reader's Google account", () => {
  eachANewPerson();

  it("is connected and disconnected in the reader's own menu", async () => {
    await account().click();
    await item("Connect Google Drive").click();
    await page.getByRole("link", { name: "Allow" }).click();
    await notice("Google Drive is connected.").waitFor();
    assert.equal(new URL(page.url()).search, "", "the query of the redirect is removed from the address");

    await account().click();
    await item(/Disconnect Google Drive/).getByText("ann@example.com").waitFor();
    await shot(page, "9-imports-account");
    await item(/Disconnect Google Drive/).click();
    const dialog = page.getByRole("dialog", { name: "Disconnect Google Drive?" });
    await dialog.waitFor();
    assert.deepEqual(await axe(page), []);
    await dialog.getByRole("button", { name: "Disconnect", exact: true }).click();
    await notice("Google Drive is disconnected.").waitFor();
    assert.ok(google.asked.includes("POST /revoke"));
    await account().click();
    await item("Connect Google Drive").waitFor();
  });

  it("is not connected when the reader refuses, and the page says so", async () => {
    await account().click();
    await item("Connect Google Drive").click();
    await page.getByRole("link", { name: "Cancel" }).click();
    await notice("Google Drive wasn't connected, because access wasn't allowed.").waitFor();
  });

  it("is connected by keyboard alone", async () => {
    await account().focus();
    await page.keyboard.press("Enter");
    await item("Connect Google Drive").waitFor();
    while (!(await item("Connect Google Drive").evaluate((el) => el === document.activeElement))) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Allow" }).focus();
    await page.keyboard.press("Enter");
    await notice("Google Drive is connected.").waitFor();
  });
});

const POLICY = "# Leave\n\nEvery employee has thirty days of leave in a year.\n\n# Travel\n\nTrains are booked in second class.\n";
const policy = (more) => google.files.set(DOC, { name: "Leave policy.md", mime: "text/markdown", text: POLICY, ...more });

describe("an import", () => {
  eachANewPerson();

  it("Import tool reports progress: a card with its steps, then ready", async () => {
    let go;
    policy({ held: new Promise((resolve) => (go = resolve)) });
    await ask(page, `Please import ${linkTo(DOC)}`);
    await state("Leave policy", "downloading");
    await page.locator("[aria-current=step]", { hasText: "Download" }).waitFor();
    await shot(page, "9-imports-running");
    assert.deepEqual(await axe(page), []);
    go();
    await page.locator("[data-import-state=ready]").waitFor();
    await (await answer(page, 1)).getByText(/ready for questions|into your knowledge base/).first().waitFor();
    await shot(page, "9-imports-ready");
    await openDocuments(page);
    await ready(page, "Leave policy");
    await documents(page).filter({ hasText: "Google Drive" }).waitFor();
    await page.reload();
    await page.locator("[data-import-state=ready]").waitFor();
  });

  it("Query newly imported document: the answer cites it by name", async () => {
    policy();
    await ask(page, `${linkTo(DOC)} How many days of leave does every employee have?`);
    await (await answer(page, 1)).getByText("thirty days").first().waitFor();
    await page.getByRole("button", { name: /^Citation 1: Leave policy/ }).first().waitFor();
  });

  it("Import tool reports accessibility error: the reader connects the account and tries again", async () => {
    policy({ private: true });
    await ask(page, `Import ${linkTo(DOC)}`);
    await page.locator("[data-import-state=failed]").waitFor();
    await page.getByRole("alert").filter({ hasText: "I couldn't access that file. Please make sure it's shared with 'Anyone with the link' and try again." }).waitFor();
    await answer(page, 1);
    await shot(page, "9-imports-not-shared");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Connect Google Drive" }).click();
    await page.getByRole("link", { name: "Allow" }).click();
    await notice("Google Drive is connected.").waitFor();
    await page.locator("[data-import-state=failed]").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("[data-import-state=ready]").waitFor();
  });

  for (const [scenario, more, says] of [
    ["Google Drive API rate limit", { rateLimited: true }, "Google Drive is temporarily limiting requests. Please try again in a few minutes."],
    ["Network error during import", { cut: true }, "I had trouble downloading that file. Please check your internet connection and try again."],
    ["File too large", { size: 60 * 1024 * 1024 }, "That file is too large to import (60MB). The maximum file size is 50MB."],
  ]) {
    it(`${scenario}: the card says it in plain words`, async () => {
      policy(more);
      await ask(page, `Import ${linkTo(DOC)}`);
      await page.locator("[data-import-state=failed]").getByRole("alert").filter({ hasText: says }).waitFor();
    });
  }

  it("Import tool handles duplicate document: there is one document", async () => {
    policy();
    await ask(page, `Import ${linkTo(DOC)}`);
    await page.locator("[data-import-state=ready]").waitFor();
    await answer(page, 1);
    await ask(page, `Import https://drive.google.com/open?id=${DOC}`);
    await (await answer(page, 2)).getByText("That document is already in your knowledge base. I can answer questions about it.").waitFor();
    await openDocuments(page);
    await many(documents(page).filter({ hasText: "Google Drive" }), 1);
  });

  it("Confirm document readiness, List recently imported documents: the chat says both", async () => {
    policy();
    await ask(page, `Import ${linkTo(DOC)}`);
    await (await answer(page, 1)).getByRole("paragraph").filter({ hasText: "I've imported 'Leave policy.md' into your knowledge base. You can now ask me questions about it." }).waitFor();
    await ask(page, "What documents have I imported?");
    await (await answer(page, 2)).getByText(/^Leave policy\.md \(Google Drive, \d{4}-\d\d-\d\d \d\d:\d\d UTC\)$/).waitFor();
  });

  it("is shown in the library with its source, its time and a link to the source", async () => {
    policy();
    await ask(page, `Import ${linkTo(DOC)}`);
    await page.locator("[data-import-state=ready]").waitFor();
    await openDocuments(page);
    await ready(page, "Leave policy");
    const row = documents(page).filter({ hasText: "Leave policy" });
    await row.getByText(/^[^·]+ · \d+ \w+ · Google Drive · ./).waitFor();
    await row.locator("time").waitFor();
    const link = row.getByRole("link", { name: /^Source of Leave policy/ });
    assert.match(await link.getAttribute("href"), new RegExp(`^https://drive\\.google\\.com/file/d/${DOC}/view`));
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  });

  it("is imported again from the library, with its new content", async () => {
    policy();
    await ask(page, `Import ${linkTo(DOC)}`);
    await page.locator("[data-import-state=ready]").waitFor();
    await answer(page, 1);
    policy({ text: `${POLICY}\n# Meals\n\nLunch is paid for.\n` });
    await openDocuments(page);
    await ready(page, "Leave policy");
    await documents(page).filter({ hasText: "Leave policy" }).hover();
    await page.getByRole("button", { name: /^Import Leave policy.* again$/ }).click();
    await notice("was updated.").waitFor();
  });

  it("shows a hostile name as text: it makes no markup, picture or link", async () => {
    policy({ name: `<img src=x onerror="window.hit=1">![a](https://evil.example/a.png) [b](javascript:window.hit=1) </script><b>bold.md` });
    await ask(page, `Import ${linkTo(DOC)}`);
    await page.locator("[data-import-state=ready]").waitFor();
    await (await answer(page, 1)).getByText("into your knowledge base").first().waitFor();
    await openDocuments(page);
    await documents(page).filter({ hasText: "Google Drive" }).waitFor();
    await shot(page, "9-imports-hostile-name");
    const inert = () => page.evaluate(() => !window.hit && ![...document.querySelectorAll("img, a, script")].some((el) => /evil|^javascript|^x$/.test(el.getAttribute("src") ?? el.getAttribute("href") ?? "")));
    assert.ok(await inert());
    await page.reload();
    await page.locator("[data-import-state=ready]").waitFor();
    assert.ok(await inert());
  });

  it("Non-Google Drive links ignored: the message is answered, nothing is imported", async () => {
    await ask(page, "What does https://example.com say about leave?");
    await answers(page).or(assist(page)).filter({ visible: true }).first().waitFor();
    assert.equal(await page.locator("[data-import-state]").count(), 0);
  });
});

for (const [name, look] of [["on a phone", phone], ["in dark colours", dark]]) {
  describe(`an import ${name}`, () => {
    eachANewPerson(look);

    it("fits, and has no axe violations", async () => {
      policy({ private: true });
      await composer(page).fill(`Please import ${linkTo(DOC)}`);
      await chips().waitFor();
      await shot(page, `9-imports-chip-${name.split(" ").at(-1)}`);
      await send(page);
      await page.locator("[data-import-state=failed]").waitFor();
      await answer(page, 1);
      assert.deepEqual(await axe(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      await shot(page, `9-imports-${name.split(" ").at(-1)}`);
    });
  });
}
