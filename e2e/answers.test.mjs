// Citations show their source at a glance and open the document. The welcome page shows a
// first visitor where to begin.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, ask, axe, composer, dark, desktop, phone, ready, shot, upload } from "./browser.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";
import { addDocument, many } from "./thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const NOTES = "# Lighthouse notes\n\n## Winding the clock\n\nThe keeper winds the clock at **seven**.\n\n## Trimming the lamp\n\nThe keeper trims the lamp at nine. The keeper rests.\n";

useStack();
leaveNoFaults();

const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
};
const preview = () => page.getByRole("tooltip");

describe("a citation", () => {
  beforeEach(() => open());

  it("shows its quote on hover and on focus, Esc closes it, and the opened one is marked", async () => {
    await ask(page, QUESTION);
    const got = await answer(page, 1);
    const chip = got.locator("[data-citation]").first();
    await chip.hover();
    await preview().getByText("three days per week").waitFor();
    assert.match(await preview().innerText(), /Remote Work and Customer Data Policy 2025/);
    const [at, card] = [await chip.boundingBox(), await preview().boundingBox()];
    assert.ok(Math.abs(card.y - at.y - at.height) < 20 && Math.abs(card.x - at.x) < 320 && card.width > 200, `the preview stands at ${JSON.stringify(card)}, the number at ${JSON.stringify(at)}`);
    assert.deepEqual(await axe(page), []);
    await shot(page, "170-citation-preview");
    await page.keyboard.press("Escape");
    await preview().waitFor({ state: "detached" });
    await composer(page).hover();
    await chip.focus();
    await preview().waitFor();
    await page.keyboard.press("Enter");
    await preview().waitFor({ state: "detached" });
    await got.locator("[data-citation][aria-current]").waitFor();
    await many(got.locator("[data-citation][aria-current]"), 1);
    await page.getByRole("button", { name: /^Close/ }).click();
    await many(got.locator("[data-citation][aria-current]"), 0);
  });

  it("answers do not repeat that there is no model", async () => {
    await ask(page, QUESTION);
    const got = await answer(page, 1);
    await got.getByText("three days per week").first().waitFor();
    await many(page.getByText("no language model is configured"), 0);
    await many(page.getByText("No AI model connected"), 1);
  });
});

describe("the list of documents", () => {
  for (const [name, look] of Object.entries({ desktop, phone })) {
    it(`opens each by its name, and the whole library: ${name}`, async () => {
      await open(look);
      await addDocument(page, "Lighthouse_notes [2]", NOTES);
      await ask(page, "Which documents do I have?");
      const got = await answer(page, 1);
      await got.getByText("Besides, there are 5 samples for everyone.").waitFor();
      const named = got.getByRole("button", { name: "Lighthouse notes (2)" });
      await (look === phone ? named.tap() : named.press("Enter"));
      await page.getByRole("region", { name: "Text of Lighthouse_notes [2]" }).getByText("Trimming the lamp").waitFor();
      await page.getByRole("button", { name: /^Close/ }).click();
      await shot(page, `174-list-of-documents-${name}`);
      assert.deepEqual(await axe(page), []);
      await got.getByRole("button", { name: "Open the library" }).click();
      await page.getByRole("tab", { name: "Documents" }).waitFor();
    });
  }
});

describe("the reader of a document", () => {
  it("renders Markdown, and finds words in it", async () => {
    await open();
    await upload(page, "Lighthouse notes.md", NOTES);
    await ready(page, "Lighthouse notes");
    await page.getByRole("button", { name: "Open Lighthouse notes" }).click();
    const text = page.getByRole("region", { name: "Text of Lighthouse notes" });
    await text.getByRole("heading", { name: "Trimming the lamp" }).waitFor();
    await text.locator("strong", { hasText: "seven" }).waitFor();
    const search = page.getByRole("searchbox", { name: "Search in this document" });
    await search.fill("the KEEPER");
    await page.getByRole("status").filter({ hasText: "1 of 3" }).waitFor();
    await many(text.locator("mark"), 3);
    await search.press("Enter");
    await page.getByRole("status").filter({ hasText: "2 of 3" }).waitFor();
    await page.getByRole("button", { name: "Previous match" }).click();
    await page.getByRole("button", { name: "Previous match" }).click();
    await page.getByRole("status").filter({ hasText: "3 of 3" }).waitFor();
    await text.locator("mark[aria-current]").and(page.locator(":visible")).waitFor();
    await shot(page, "171-search-in-document");
    assert.deepEqual(await axe(page), []);
    await search.fill("zebra");
    await page.getByRole("status").filter({ hasText: "No matches" }).waitFor();
    await search.press("Escape");
    await many(text.locator("mark"), 0);
  });
});

describe("the welcome page", () => {
  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`asks about a person's own documents, marks those that everybody has, and says how to connect a model: ${name}`, async () => {
      await open(look);
      const ways = page.getByRole("list", { name: "Suggestions" });
      await ways.getByText("Shared").first().waitFor();
      for (const idea of ["Who may work remotely?", "Summarize Supplier Contract with Brightwater"]) await ways.getByRole("button", { name: idea }).waitFor();
      await page.getByText("Connect one", { exact: true }).click();
      await page.getByText("whoever runs this server can connect one").waitFor();
      await shot(page, `172-welcome-${name}`);
      assert.deepEqual(await axe(page), []);
      await addDocument(page, "Lighthouse notes", NOTES);
      await page.reload();
      const way = ways.getByRole("button", { name: "Winding the clock" });
      await way.waitFor();
      await shot(page, `173-welcome-own-${name}`);
      await way.click();
      await page.waitForURL(/\/chat\//);
      await page.getByRole("article", { name: "You" }).getByText(/^What does .*Lighthouse notes.* say about “Winding the clock”\?$/).waitFor();
    });
  }
});
