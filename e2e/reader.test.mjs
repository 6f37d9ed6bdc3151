// The reader, which shows documents and citations: steps between citations, search, pages,
// tables, its width.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, ask, axe, desktop, openDocuments, phone, shot } from "./browser.mjs";
import { pdfFile } from "./pdf-file.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";
import { assertSoon } from "./thread.mjs";

useStack();
leaveNoFaults();

const RULES = "# Harbour rules\n\n## Quiet hours\n\nThe harbour is **quiet** from ten to six.\n\n## Fees\n\n| Ship | Fee |\n| --- | --- |\n| Sailing ship | 55 euros |\n| Island ferry | 430 euros |\n";
const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
};
const reader = () => page.locator("aside, [role=dialog]").filter({ has: page.getByRole("searchbox", { name: "Search in this document" }) });

describe("the reader", () => {
  for (const [name, look] of Object.entries({ desktop, phone })) {
    it(`marks a citation in rendered Markdown, and steps to the next one: ${name}`, async () => {
      await open(look);
      const made = await page.request.post("/api/documents", { multipart: { file: { name: "Harbour rules.md", mimeType: "text/markdown", buffer: Buffer.from(RULES) } } });
      const { id } = await made.json();
      await assertSoon(async () => (await (await page.request.get(`/api/documents/${id}`)).json()).status === "ready", "the document is ready");
      await page.reload();
      await ask(page, "When are the quiet hours of the harbour, and what is the fee of the island ferry?");
      const chips = (await answer(page, 1)).locator("[data-citation]");
      await chips.first().click();
      await reader().locator("mark").first().waitFor();
      await shot(page, `210-reader-${name}`);
      assert.deepEqual(await axe(page), []);
      const group = reader().getByRole("group", { name: "Citations" });
      await group.getByRole("button", { name: "Next citation" }).click();
      await group.getByText(/^Citation 2 of/).waitFor();
      await reader().locator("mark").filter({ hasText: "430 euros" }).first().waitFor();
      await group.getByRole("button", { name: "Previous citation" }).click();
      await group.getByText(/^Citation 1 of/).waitFor();
      await reader().getByRole("link", { name: "Download" }).waitFor();
      await page.keyboard.press("Control+f");
      await page.keyboard.type("430 euros");
      await reader().locator("tr mark[aria-current]").getByText("430 euros").waitFor();
    });
  }

  it("keeps the words of a table whole, beside the quote and in the document", async () => {
    await open();
    const rows = ["invoice,date,customer,country,net,vat,status", ...Array.from({ length: 20 }, (_, i) => `INV-26${10 + i},2026-01-${10 + i},Globex,FR,6319.00,817.50,${i === 3 ? "overdue" : "paid"}`)];
    const made = await page.request.post("/api/documents", { multipart: { file: { name: "Invoices.csv", mimeType: "text/csv", buffer: Buffer.from(rows.join("\n")) } } });
    const { id } = await made.json();
    await assertSoon(async () => (await (await page.request.get(`/api/documents/${id}`)).json()).status === "ready", "the document is ready");
    await page.reload();
    await ask(page, "Which invoices are overdue?");
    const chip = (await answer(page, 1)).locator("[data-citation]").first();
    const whole = async (table) => {
      await table.getByText("2026-01-13").first().waitFor();
      const broken = await table.locator("th, td").evaluateAll((cells) =>
        cells.flatMap((cell) => {
          const range = document.createRange();
          return [...cell.innerText.matchAll(/\S+/g)].flatMap((word) => {
            const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
              const at = walker.currentNode.data.indexOf(word[0]);
              if (at < 0) continue;
              range.setStart(walker.currentNode, at);
              range.setEnd(walker.currentNode, at + word[0].length);
              return range.getClientRects().length > 1 ? word[0] : [];
            }
            return [];
          });
        }),
      );
      assert.deepEqual(broken, []);
    };
    await chip.hover();
    await whole(page.getByRole("tooltip").locator("table"));
    await chip.click();
    await whole(reader().locator("table"));
    await shot(page, "212-reader-table");
  });

  it("enlarges a page on a phone until the quote can be read, once for each quote", async () => {
    await open(phone);
    const file = pdfFile([["Handbook of the harbour"], ["The island ferry costs 430 euros a year."]]);
    const made = await page.request.post("/api/documents", { multipart: { file: { name: "Handbook.pdf", mimeType: "application/pdf", buffer: file } } });
    const { id } = await made.json();
    await assertSoon(async () => (await (await page.request.get(`/api/documents/${id}`)).json()).status === "ready", "the document is ready");
    await page.reload();
    await ask(page, "What does the island ferry cost a year?");
    await (await answer(page, 1)).locator("[data-citation]").first().tap();
    const mark = page.getByRole("region", { name: "Pages of Handbook" }).locator("mark[aria-current]").first();
    await mark.waitFor();
    const out = page.getByRole("button", { name: "Zoom out" });
    await assertSoon(async () => (await mark.boundingBox())?.height >= 13 && (await out.isEnabled()), "the quote is enlarged");
    const inView = async () => {
      const { x, y } = await mark.boundingBox();
      return x >= 0 && y > 0 && x < phone.viewport.width && y < phone.viewport.height;
    };
    await assertSoon(inView, "the quote is on the screen");
    while (await out.isEnabled()) await out.tap();
    await assertSoon(async () => (await mark.boundingBox())?.height < 13, "the page is as small as it was, and stays so");
    await page.getByRole("button", { name: "Zoom in" }).waitFor();
    assert.equal(await out.isDisabled(), true);
  });

  it("goes to a page, and keeps the width that the keyboard gives it", async () => {
    await open();
    const file = pdfFile(Array.from({ length: 6 }, (_, i) => [`Part ${i + 1} of the handbook`, "", `The rule of part ${i + 1} is short.`]));
    await openDocuments(page);
    await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles({ name: "Handbook.pdf", mimeType: "application/pdf", buffer: file });
    await page.getByRole("button", { name: "Open Handbook" }).click();
    const field = page.getByRole("textbox", { name: "Page" });
    await field.fill("5");
    await field.press("Enter");
    await page.getByRole("status").getByText("Page 5 of 6").waitFor();
    const edge = page.getByRole("separator", { name: "Width of the panel" });
    const width = () => page.locator("aside").last().evaluate((a) => a.offsetWidth);
    const before = await width();
    await edge.focus();
    await page.keyboard.press("ArrowRight");
    await assertSoon(async () => (await width()) === before - 40, "a narrower panel");
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Text", exact: true }).click();
    await page.reload();
    await openDocuments(page);
    await assertSoon(async () => (await width()) === before - 40, "the width is kept");
    await page.getByRole("button", { name: "Open Handbook" }).click();
    await page.getByRole("region", { name: "Text of Handbook" }).waitFor();
  });
});
