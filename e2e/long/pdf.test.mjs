// The page shows the pages of PDF documents: it marks a quote on its page, draws only the
// visible pages, and does not run a file's scripts.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, ask, axe, dark, desktop, openDocuments, phone, ready, shot } from "../browser.mjs";
import { pdfFile } from "../pdf-file.mjs";
import { arrive, leaveNoFaults, page, useStack } from "../suite.mjs";
import { assertSoon, many } from "../thread.mjs";

const PAGES = 30;
const CITED = 17;
const TITLE = "Harbour handbook 2026";

// No line is on several pages: the server would take it for a header or footer.
const place = (n) => `${["North", "South", "East", "West", "Inner", "Outer"][n % 6]} ${["Quay", "Basin", "Dock", "Pier", "Mole"][n % 5]}`;
const lines = (n) => [
  ...(n === 1 ? [TITLE, ""] : []), // a title in the metadata counts if its words are in the text
  `${n}. Rules of the ${place(n)}`,
  "",
  `The harbour office keeps a register of every ship that lies at the ${place(n)}, with`,
  `its master, its flag, its cargo and the day on which it is to leave the ${place(n)}.`,
  "",
  ...(n === CITED
    ? ["The keeper of the old lighthouse lights the lamp at seven in the evening and", "winds the clock twice a day. In fog the keeper rings the bell every two minutes."]
    : [`Ships at the ${place(n)} pay their dues on the first day of the month. A ship that`, `stays longer needs a permit of the master of the ${place(n)}.`]),
];
const FILE = pdfFile(
  Array.from({ length: PAGES }, (_, i) => lines(i + 1)),
  {
    title: TITLE,
    script: "app.alert('x')",
    links: [{ page: 1, url: "https://example.org/harbour" }, { page: 1, url: "javascript:alert(1)" }, { page: 1, url: "file:///etc/passwd" }],
  },
);

useStack();
leaveNoFaults();

const uploadFile = async () => {
  await openDocuments(page);
  await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles({ name: `${TITLE}.pdf`, mimeType: "application/pdf", buffer: FILE });
  await ready(page, TITLE);
};
const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
  await uploadFile();
};
const pages = () => page.getByRole("region", { name: `Pages of ${TITLE}` });
const marks = () => pages().locator("mark");
const at = (n) => page.getByRole("status").getByText(`Page ${n} of ${PAGES}`);
const drawn = () => pages().locator("canvas").count();
const inView = (mark) =>
  mark.evaluate((m) => {
    const [a, b] = [m.getBoundingClientRect(), m.closest("[data-pages]").getBoundingClientRect()];
    return a.width > 0 && a.top >= b.top && a.bottom <= b.bottom && a.left >= b.left - 1;
  });

describe("a citation of a PDF", () => {
  for (const [name, look] of Object.entries({ desktop, dark, phone, wide: { ...desktop, viewport: { width: 1680, height: 1000 } } })) {
    it(`opens the page with the quote marked: ${name}`, async () => {
      await open(look);
      await page.reload();
      await ask(page, "When does the keeper light the lamp of the old lighthouse?");
      const chip = (await answer(page, 1)).locator("[data-citation]").first();
      await chip.waitFor();
      assert.equal(await chip.getAttribute("aria-label"), `Citation 1: ${TITLE}, page ${CITED}`);
      await (name === "phone" ? chip.tap() : chip.click());
      await marks().first().waitFor();
      await at(CITED).waitFor();
      const text = (await marks().allTextContents()).join(" ");
      assert.match(text, /^The keeper of the old lighthouse lights the lamp at seven/);
      await assertSoon(() => inView(marks().first()), "the mark in view");
      assert.ok((await drawn()) < 8, "only pages close to the screen are drawn");
      await shot(page, `190-pdf-citation-${name}`);
      assert.deepEqual(await axe(page), []);
    });
  }

  it("shows document, page and section before it is opened", async () => {
    await open();
    await ask(page, "When does the keeper light the lamp of the old lighthouse?");
    const chip = (await answer(page, 1)).locator("[data-citation]").first();
    await chip.hover();
    await page.getByRole("tooltip").getByText(`${TITLE} · page ${CITED}`).waitFor();
    await shot(page, "191-pdf-preview");
  });

  it("shows the text when the file was not kept", async () => {
    await open();
    await page.route("**/original", (route) => route.fulfill({ body: "The text of the document.", contentType: "application/octet-stream" }));
    await ask(page, "When does the keeper light the lamp of the old lighthouse?");
    await (await answer(page, 1)).locator("[data-citation]").first().click();
    await page.getByText("The pages of this document couldn't be shown. This is its text.").waitFor();
    await page.getByRole("region", { name: `Text of ${TITLE}` }).locator("mark").getByText("lights the lamp").waitFor();
    await many(page.getByRole("button", { name: "Pages" }), 0);
  });

  it("shows the text when the file cannot be rendered", async () => {
    await open();
    await page.route("**/original", (route) => route.fulfill({ body: "%PDF-1.7 nothing", contentType: "application/octet-stream" }));
    await page.getByRole("button", { name: `Open ${TITLE}` }).click();
    await page.getByText("The pages of this document couldn't be shown. This is its text.").waitFor();
    await page.getByRole("region", { name: `Text of ${TITLE}` }).getByText("The harbour office keeps a register").first().waitFor();
  });
});

describe("the pages of a document", () => {
  it("are read, searched and enlarged with the keyboard", async () => {
    await open();
    await page.getByRole("button", { name: `Open ${TITLE}` }).click();
    await at(1).waitFor();
    await pages().locator(".textLayer").getByText("with").first().waitFor();
    await shot(page, "192-pdf-reader");
    await assertSoon(async () => {
      await pages().press("End"); // again, while pages get their heights
      return at(PAGES).isVisible();
    }, "the last page");
    assert.ok((await drawn()) < 8);

    await page.getByRole("searchbox", { name: "Search in this document" }).fill("lights the LAMP");
    await page.getByText("1 of 1").waitFor();
    await at(CITED).waitFor();
    await assertSoon(() => inView(marks().first()), "the mark in view");
    await page.getByRole("searchbox", { name: "Search in this document" }).fill("needs a permit");
    await page.getByText(`1 of ${PAGES - 1}`).waitFor();
    await at(1).waitFor();
    await page.keyboard.press("Enter");
    await page.getByText(`2 of ${PAGES - 1}`).waitFor();
    await pages().locator("[data-page='2'] mark[aria-current]").waitFor();
    await shot(page, "193-pdf-search");

    const before = await pages().locator("[data-page='2']").evaluate((p) => p.offsetWidth);
    await page.getByRole("button", { name: "Zoom in" }).press("Enter");
    await assertSoon(async () => (await pages().locator("[data-page='2']").evaluate((p) => p.offsetWidth)) > before * 1.2, "a larger page");
    await page.getByRole("button", { name: "Text", exact: true }).press("Enter");
    await page.getByRole("region", { name: `Text of ${TITLE}` }).locator("mark").first().waitFor();
    await page.getByText(`1 of ${PAGES - 1}`).waitFor();
    assert.deepEqual(await axe(page), []);
    await page.getByRole("button", { name: "Pages", exact: true }).press("Enter");
    await pages().locator("canvas").first().waitFor();
    assert.deepEqual(await axe(page), []);
  });

  it("run no scripts and have only links to the web, which open apart", async () => {
    await open();
    page.on("dialog", () => assert.fail("a dialog opened"));
    await page.getByRole("button", { name: `Open ${TITLE}` }).click();
    const link = pages().getByRole("link");
    await link.waitFor();
    await many(link, 1);
    assert.deepEqual(await link.evaluate((a) => [a.href, a.target, a.rel]), ["https://example.org/harbour", "_blank", "noopener noreferrer"]);
  });
});
