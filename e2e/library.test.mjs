// Documents on the page: many uploads at once, files that cannot be read, downloads, and
// the choice of the documents that a conversation may use. Also the export of a conversation.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, it } from "node:test";
import { answer, ask, axe, clear, composer, dark, desktop, documents, messageForm, openDocuments, phone, ready, shot, upload } from "./browser.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";
import { addDocument, assertSoon, many } from "./thread.mjs";

const NOTES = "# Lighthouse notes\n\n## Winding the clock\n\nThe keeper winds the clock at seven in the evening.\n";
const RULES = "# Harbour rules\n\n## Quiet hours\n\nThe harbour is quiet from ten to six.\n";

useStack();
leaveNoFaults();

const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
};
const saved = async (press) => {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
};
const tagged = async (text) => {
  const [request] = await Promise.all([page.waitForRequest((r) => r.method() === "POST" && new URL(r.url()).pathname === "/api/ui/chat"), ask(page, text)]);
  const { data } = request.postDataJSON();
  return data?.tagged_doc_ids ?? request.postDataJSON().tagged_doc_ids ?? [];
};

describe("the file of a document", () => {
  it("can be saved as it was uploaded, from its reader", async () => {
    await open();
    await upload(page, "Lighthouse notes.md", NOTES);
    await ready(page, "Lighthouse notes");
    await page.getByRole("button", { name: "Open Lighthouse notes" }).click();
    const got = await saved(() => page.getByRole("link", { name: "Download", exact: true }).click());
    assert.deepEqual(got, { name: "Lighthouse notes.md", text: NOTES });
  });
});

describe("the documents that are shared with everyone", () => {
  it("are hidden everywhere by the person's choice, until they are shown again", async () => {
    await open();
    const shared = page.getByRole("list", { name: "Documents: Shared with everyone" });
    const samples = page.getByRole("list", { name: "Suggestions" }).getByText("Shared");
    await samples.first().waitFor();
    await openDocuments(page);
    await shared.waitFor();
    await page.getByRole("button", { name: "Hide shared documents" }).click();
    await many(shared, 0);
    await many(samples, 0);
    await page.reload();
    await composer(page).pressSequentially("@");
    await page.getByRole("listbox").waitFor();
    await many(page.getByRole("option", { name: /Policy/ }), 0);
    await clear(page);
    await openDocuments(page);
    await page.getByRole("button", { name: "Show shared documents" }).click();
    await shared.waitFor();
    await samples.first().waitFor();
  });
});

describe("the title of a document", () => {
  it("can be changed, and its file's name still finds it", async () => {
    await open();
    await upload(page, "hr-final-2.md", "Holidays are thirty days a year for everyone.\n");
    await ready(page, "hr final 2");
    await page.getByRole("button", { name: "Rename hr final 2" }).click();
    const dialog = page.getByRole("dialog", { name: "Rename document" });
    await dialog.getByRole("textbox", { name: "Title" }).fill("Holiday rules");
    assert.deepEqual(await axe(page), []);
    await shot(page, "195-rename-document");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Open Holiday rules" }).waitFor();
    const { items } = await page.evaluate(() => fetch("/api/documents").then((r) => r.json()));
    assert.deepEqual(items.filter((d) => !d.public).map((d) => [d.title, d.name]), [["Holiday rules", "hr-final-2.md"]]);
  });
});

describe("the documents that a chat may use", () => {
  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`are one, from its reader, until all may be used again: ${name}`, async () => {
      await open(look);
      const id = await addDocument(page, "Lighthouse notes", NOTES);
      await page.reload();
      await openDocuments(page);
      await page.getByRole("button", { name: "Open Lighthouse notes" }).click();
      await page.getByRole("button", { name: "Ask only this document" }).click();
      const only = messageForm(page).getByRole("button", { name: "Only: Lighthouse notes" });
      await only.waitFor();
      if (name !== "desktop") await many(page.getByRole("button", { name: "Ask only this document" }), name === "phone" ? 0 : 1);
      await shot(page, `183-only-one-document-${name}`);
      assert.deepEqual(await axe(page), []);
      assert.deepEqual(await tagged("When is the clock wound?"), [id]);
      await (await answer(page, 1)).getByText("at seven").first().waitFor();
      await only.waitFor();
      await page.reload();
      await only.waitFor();
      await messageForm(page).getByRole("button", { name: "Use all documents" }).click();
      await many(only, 0);
      assert.deepEqual(await tagged("And the lamp?"), []);
    });
  }

  it("are chosen from a list, with the sets", async () => {
    await open();
    const [notes, rules] = [await addDocument(page, "Lighthouse notes", NOTES), await addDocument(page, "Harbour rules", RULES)];
    await page.reload();
    await page.getByRole("button", { name: "Choose documents for this chat" }).click();
    const dialog = page.getByRole("dialog", { name: "Choose documents for this chat" });
    await dialog.getByRole("searchbox").fill("harb");
    await many(dialog.getByRole("checkbox"), 1);
    await dialog.getByRole("checkbox", { name: "Harbour rules" }).check();
    await dialog.getByRole("searchbox").fill("");
    await dialog.getByRole("checkbox", { name: "Lighthouse notes" }).check();
    await shot(page, "184-choose-documents");
    assert.deepEqual(await axe(page), []);
    await dialog.getByRole("button", { name: "Save" }).click();
    await messageForm(page).getByRole("button", { name: /^Only: / }).waitFor();
    assert.deepEqual((await tagged("When is it quiet?")).sort(), [notes, rules].sort());
  });
});

describe("the library", () => {
  it("shows what came from where, and what is in a set", async () => {
    await open();
    const id = await addDocument(page, "Lighthouse notes", NOTES);
    await addDocument(page, "Harbour rules", RULES);
    assert.ok((await page.request.post("/api/document-sets", { data: { name: "Keepers", doc_ids: [id] } })).ok());
    await page.reload();
    await openDocuments(page);
    const show = page.getByRole("combobox", { name: "Show" });
    await show.selectOption({ label: "Uploaded" });
    await many(documents(page), 2);
    await show.selectOption({ label: "Set: Keepers" });
    await many(documents(page), 1);
    await documents(page).filter({ hasText: "Lighthouse notes" }).waitFor();
    await shot(page, "185-filtered-library");
    assert.deepEqual(await axe(page), []);
    await show.selectOption({ label: "All documents" });
    await assertSoon(async () => (await documents(page).count()) > 2, "all are there again");
  });

  it("has one row for thirty uploads, which opens", async () => {
    await open();
    let go;
    const wait = new Promise((resolve) => (go = resolve));
    await page.route("**/api/documents", async (route) => {
      if (route.request().method() === "POST") await wait;
      await route.continue();
    });
    await openDocuments(page);
    const files = Array.from({ length: 30 }, (_, i) => ({ name: `Note ${i}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# Note ${i}\n\nWords of note ${i}.\n`) }));
    await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles(files);
    const uploads = page.getByRole("list", { name: "Uploads" });
    const row = uploads.getByText("Uploading 30 files");
    await row.waitFor();
    await many(uploads.getByText("Note 7.md").and(page.locator(":visible")), 0);
    await shot(page, "186-many-uploads");
    assert.deepEqual(await axe(page), []);
    await row.click();
    await uploads.getByText("Note 7.md").and(page.locator(":visible")).waitFor();
    go();
    await many(uploads, 0);
    await ready(page, "Note 29");
  });
});

describe("a file or text that is added to a message", () => {
  beforeEach(() => open());

  it("is shown as failed with the reason when it cannot be read, and can be removed", async () => {
    const picker = messageForm(page).locator("input[type=file]");
    await picker.setInputFiles({ name: "Broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4\nnothing") });
    const tray = page.getByRole("list", { name: "Attachments" });
    await tray.getByText(/^Broken: This PDF/).waitFor();
    await shot(page, "187-unreadable-document");
    assert.deepEqual(await axe(page), []);
    await tray.getByRole("button", { name: "Remove Broken" }).click();
    await many(composer(page).locator(".mention"), 0);
    await many(tray, 0);
  });

  it("becomes a document when it is too long for a message", async () => {
    await composer(page).focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text/plain", `Minutes of the harbour\n${"The keeper speaks at length. ".repeat(1_300)}`);
      document.querySelector(".composer-text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await composer(page).locator(".mention", { hasText: "Minutes of the harbour" }).waitFor();
    assert.equal((await composer(page).textContent()).trim(), "@Minutes of the harbour");
  });
});

describe("a chat", () => {
  const QUESTION = "How many days a week may employees work remotely?";

  it("can be saved as Markdown with its sources", async () => {
    await open();
    await ask(page, QUESTION);
    await answer(page, 1);
    await page.getByRole("button", { name: /^Options for How many days/ }).click();
    const got = await saved(() => page.getByRole("menuitem", { name: "Export as Markdown" }).click());
    assert.match(got.name, /^How many days a week may employees work remotely.*\.md$/);
    assert.match(got.text, /^# How many days[^\n]*\n\n## You/);
    assert.match(got.text, /\n## Palaver, [^]*\[\^1-1\][^]*\n\[\^1-1\]: Remote Work and Customer Data Policy 2025: “/);
  });

  it("is found by its words, which the result shows in context", async () => {
    await open();
    await ask(page, QUESTION);
    await answer(page, 1);
    await page.getByRole("searchbox", { name: "Search chats" }).fill("DAYS PER week");
    const row = page.getByRole("navigation", { name: "Chats" }).getByRole("link");
    await row.locator("mark", { hasText: /^days per week$/i }).waitFor();
    await shot(page, "189-search-shows-the-match");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("searchbox", { name: "Search chats" }).fill("");
    await many(row.locator("mark"), 0);
  });

  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`can be printed, all of it: ${name}`, async () => {
      await open(look);
      await ask(page, QUESTION);
      await answer(page, 1);
      await page.goto(page.url().replace("/chat/", "/print/"));
      await page.getByRole("heading", { level: 1, name: QUESTION.slice(0, 20) }).waitFor();
      await page.getByText("three days per week").first().waitFor();
      await page.getByRole("button", { name: "Print" }).waitFor();
      await many(page.getByRole("form"), 0);
      await shot(page, `188-printable-${name}`);
      assert.deepEqual(await axe(page), []);
    });
  }
});
