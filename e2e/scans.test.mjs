// Documents whose pages are pictures: their text is read by OCR, citations open the picture,
// and pages that cannot be read are named. Tables of documents are drawn as tables.
import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { answer, ask, axe, composer, desktop, documents, openDocuments, phone, ready, shot } from "./browser.mjs";
import { pdfFile } from "./pdf-file.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";
import { startStack } from "./stack.mjs";
import { addDocument, assertSoon, many, progress } from "./thread.mjs";

useStack();
leaveNoFaults();

const others = [];
after(() => Promise.all(others.map((o) => o.stop())));
/** Starts another server, which the tests of this file share. */
const server = (settings) => {
  let started;
  return () => (started ??= startStack(settings).then((s) => (others.push(s), s)));
};
const withoutOCR = server({ OCR: "off" });

const open = async (look = desktop, url) => {
  await arrive(look, url);
  await page.goto("/");
};
const add = async (name, mimeType, buffer) => {
  await openDocuments(page);
  await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles({ name, mimeType, buffer });
};
const document = async (name) => (await page.evaluate(() => fetch("/api/documents").then((r) => r.json()))).items.find((d) => d.name === name);
/** A picture of lines of text, as a camera or a scanner makes it. */
const drawn = async (lines, type = "image/png") => {
  const width = 1240;
  const height = 1754;
  const url = await page.evaluate(
    ([lines, type, width, height]) => {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const c = canvas.getContext("2d");
      c.fillStyle = "white";
      c.fillRect(0, 0, width, height);
      c.fillStyle = "black";
      c.font = "32px sans-serif";
      lines.forEach((l, i) => c.fillText(l, 100, 160 + 60 * i));
      if (type !== "gray") return canvas.toDataURL(type);
      const gray = c.getImageData(0, 0, width, height).data.filter((_, i) => i % 4 === 0);
      return `,${btoa(Array.from(gray, (n) => String.fromCharCode(n)).join(""))}`;
    },
    [lines, type, width, height],
  );
  return { bytes: Buffer.from(url.slice(url.indexOf(",") + 1), "base64"), width, height };
};
/** The same as bytes in shades of gray. */
const pixels = (lines) => drawn(lines, "gray");
/** A TIFF of pages in shades of gray. */
const tiff = (...pages) => {
  let out = Buffer.from("II*\0\0\0\0\0", "latin1");
  let link = 4; // where the place of the next page belongs
  for (const { width, height, bytes } of pages) {
    const entries = [[256, width], [257, height], [258, 8], [259, 1], [262, 1], [273, out.length], [277, 1], [278, height], [279, bytes.length]];
    const list = Buffer.alloc(2 + 12 * entries.length + 4);
    list.writeUInt16LE(entries.length, 0);
    entries.forEach(([tag, value], i) => {
      list.writeUInt16LE(tag, 2 + 12 * i);
      list.writeUInt16LE(4, 4 + 12 * i);
      list.writeUInt32LE(1, 6 + 12 * i);
      list.writeUInt32LE(value, 10 + 12 * i);
    });
    out.writeUInt32LE(out.length + bytes.length, link);
    link = out.length + bytes.length + list.length - 4;
    out = Buffer.concat([out, bytes, list]);
  }
  return out;
};
const cited = async (n = 1) => {
  const chip = (await answer(page, n)).locator("[data-citation]").first();
  await chip.waitFor();
  return chip;
};

/** Checks that just these words are marked on a page's picture, and that the marks lie within a part of it. */
const marked = async (picture, part, words) => {
  const marks = page.getByRole("region", { name: /^Pages of/ }).locator("mark[aria-current]");
  await marks.first().waitFor();
  await assertSoon(async () => (await marks.allTextContents()).join(" ") === words, "the quoted words are marked").catch(async (err) => {
    throw new Error(`marked: ${(await marks.allTextContents()).join(" ")}`, { cause: err });
  });
  const around = await picture.boundingBox();
  for (const mark of await marks.all()) {
    const { x, y, width, height } = await mark.boundingBox();
    const box = { left: (x - around.x) / around.width, top: (y - around.y) / around.height, right: (x + width - around.x) / around.width, bottom: (y + height - around.y) / around.height };
    assert.ok(box.left >= part.left && box.top >= part.top && box.right <= part.right && box.bottom <= part.bottom && width > 3 && height > 3, JSON.stringify(box));
    assert.ok(y > 0 && y < (await page.viewportSize()).height, "the mark is on the screen");
  }
};

describe("a picture", () => {
  for (const [name, look] of Object.entries({ desktop, phone })) {
    it(`is a document whose text is found and whose citation opens the picture: ${name}`, async () => {
      await open(look);
      await add("Receipt of the lamp.png", "image/png", (await drawn(["Receipt 4711", "The repair of the lighthouse lamp costs 238 euros.", "Paid in cash on 4 May 2026."])).bytes);
      await ready(page, "Receipt of the lamp");
      await page.reload();
      await ask(page, "What does the repair of the lighthouse lamp cost?");
      const chip = await cited();
      await (await answer(page, 1)).getByText("238 euros").first().waitFor();
      await (name === "phone" ? chip.tap() : chip.click());
      const picture = page.getByRole("region", { name: "Pages of Receipt of the lamp" }).getByRole("img", { name: "Page 1" });
      await picture.waitFor();
      await assertSoon(() => picture.evaluate((img) => img.complete && img.naturalWidth === 1240), "the picture is shown");
      if (name === "phone") {
        const mark = page.getByRole("region", { name: "Pages of Receipt of the lamp" }).locator("mark[aria-current]").first();
        await assertSoon(async () => (await mark.boundingBox())?.height >= 13, "the quote is enlarged until it can be read");
      }
      await marked(picture, { left: 95 / 1240, top: 190 / 1754, right: 950 / 1240, bottom: 232 / 1754 }, "The repair of the lighthouse lamp costs 238 euros.");
      await shot(page, `197-cited-picture-${name}`);
      assert.deepEqual(await axe(page), []);
      await page.getByRole("button", { name: "Text", exact: true }).click();
      await page.locator("mark", { hasText: "238 euros" }).waitFor();
    });
  }

  it("of two pages is shown page by page, also as TIFF", async () => {
    await open();
    await add("Fax of the harbour.tif", "image/tiff", tiff(await pixels(["The first page says nothing about fees."]), await pixels(["The ferry to the island costs 430 euros a year."])));
    await ready(page, "Fax of the harbour");
    await page.reload();
    await ask(page, "What does the ferry to the island cost?");
    const chip = await cited();
    assert.match(await chip.getAttribute("aria-label"), /page 2$/);
    await chip.click();
    const picture = page.getByRole("region", { name: "Pages of Fax of the harbour" }).getByRole("img", { name: "Page 2" });
    await picture.waitFor();
    await assertSoon(() => picture.evaluate((img) => img.complete && img.naturalWidth > 1000 && img.getBoundingClientRect().top < innerHeight), "the cited page is shown");
    await marked(picture, { left: 0.07, top: 0.07, right: 0.75, bottom: 0.1 }, "The ferry to the island costs 430 euros a year.");
    await shot(page, "203-cited-tiff");
  });

  it("that cannot be read says why", async () => {
    await open(desktop, (await withoutOCR()).url);
    await add("Receipt.png", "image/png", (await drawn(["The lamp costs 238 euros."])).bytes);
    await documents(page).getByText("The text of this picture couldn't be read.").waitFor();
    const { status, pages, unread_pages, error_code } = await document("Receipt.png");
    assert.deepEqual([status, pages, unread_pages], ["failed", 1, 1], error_code);
  });
});

describe("a scanned page of a PDF", () => {
  const letter = async () =>
    pdfFile([
      ["Letters of the harbour office, collected in 2026.", "The first page was typed and has a text of its own."],
      await drawn(["Dear Ms Okafor,", "the berth at the old quay is yours from the first of June.", "The yearly fee is 1,180 euros."], "image/jpeg"),
      await drawn([], "image/jpeg"),
    ]);

  it("is read, and its citation opens the page", async () => {
    await open();
    await add("Letters.pdf", "application/pdf", await letter());
    await ready(page, "Letters");
    const { pages, unread_pages } = await document("Letters.pdf");
    assert.deepEqual([pages, unread_pages], [3, undefined], "an empty page is no unread one");
    await page.reload();
    await ask(page, "What is the yearly fee of the berth at the old quay?");
    const chip = await cited();
    assert.match(await chip.getAttribute("aria-label"), /page 2$/);
    await chip.click();
    await page.getByRole("status").getByText("Page 2 of 3").waitFor();
    await page.getByRole("region", { name: /^Pages of Letters/ }).locator("[data-page='2'] canvas").waitFor();
    await marked(page.locator("[data-page='2'] canvas"), { left: 0.07, top: 0.05, right: 0.8, bottom: 0.15 }, "Dear Ms Okafor, the berth at the old quay is yours from the first of June.");
    await page.getByRole("searchbox", { name: "Search in this document" }).fill("old quay");
    await page.locator("[data-page='2'] mark[aria-current]", { hasText: "quay" }).waitFor();
    await shot(page, "198-cited-scan");
  });

  it("that is not read is named in the list, in the reader, below answers and where it is attached", async () => {
    await open(desktop, (await withoutOCR()).url);
    await add("Letters.pdf", "application/pdf", await letter());
    await ready(page, "Letters");
    const said = "2 of 3 pages are pictures that couldn't be read.";
    await documents(page).getByText(said).waitFor();
    const { pages, unread_pages } = await document("Letters.pdf");
    assert.deepEqual([pages, unread_pages], [3, 2]);
    await page.getByRole("button", { name: "Open Letters" }).click();
    await page.getByRole("region", { name: /^Pages of Letters/ }).waitFor();
    await page.getByText(said).last().waitFor();
    await shot(page, "199-unread-pages");
    assert.deepEqual(await axe(page), []);
    await page.reload();
    await ask(page, "Who typed the first page of the letters of the harbour office?");
    await page.getByText("Some pages of these documents are pictures that couldn't be read. The answer may miss what is on them.").waitFor();
    await page.locator("form input[type=file]").setInputFiles({ name: "Attached.pdf", mimeType: "application/pdf", buffer: await letter() });
    await page.getByRole("list", { name: "Attachments" }).getByText(said).waitFor();
    assert.deepEqual(await axe(page), []);
  });

  it("is not read again after a crash, and the list and a waiting message say what is read", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "palaver-ocr-"));
    const calls = path.join(folder, "calls");
    const go = path.join(folder, "go");
    // A tesseract that is slow with the second page, until the test lets it go.
    await writeFile(
      path.join(folder, "tesseract"),
      `#!/bin/sh
if [ "$1" = --list-langs ]; then echo "List of languages:"; echo eng; exit; fi
echo call >> ${calls}
if [ $(grep -c call ${calls}) -gt 1 ]; then while [ ! -e ${go} ]; do sleep 0.1; done; fi
printf '4\\t1\\t1\\t1\\t1\\t0\\t9\\t9\\t99\\t30\\t-1\\t\\n5\\t1\\t1\\t1\\t1\\t1\\t9\\t9\\t99\\t30\\t96\\tlighthouses\\n'
`,
    );
    await chmod(path.join(folder, "tesseract"), 0o755);
    const stack = await startStack({ PATH: `${folder}:${process.env.PATH}` });
    try {
      await open(desktop, stack.url);
      await add("Letters.pdf", "application/pdf", pdfFile([["The first page was typed."], await drawn(["One"], "image/jpeg"), await drawn(["Two"], "image/jpeg"), await drawn(["Three"], "image/jpeg")]));
      await documents(page).getByText("Reading page 3 of 4…").waitFor();
      await shot(page, "200-reading-page");
      await page.goto("about:blank");
      await stack.kill();
      await writeFile(go, "");
      await stack.start();
      await page.goto(stack.url);
      await openDocuments(page);
      await ready(page, "Letters");
      assert.equal((await document("Letters.pdf")).unread_pages, undefined);
      const read = (await readFile(calls, "utf8")).trim().split("\n").length;
      assert.equal(read, 4, "three pages, and the second one once more");

      await rm(go);
      await page.goto(stack.url);
      await page.locator("form input[type=file]").setInputFiles({ name: "Scan.pdf", mimeType: "application/pdf", buffer: pdfFile([await drawn(["Four"], "image/jpeg")]) });
      await composer(page).locator(".mention", { hasText: "Scan" }).waitFor();
      await composer(page).pressSequentially("What is lit?");
      await composer(page).press("Enter");
      await progress(page).getByText("Waiting for “Scan” to be processed…").waitFor();
      await writeFile(go, "");
      await answer(page, 1);
      await page.goto("about:blank"); // a chat would ask the server that stops
    } finally {
      await stack.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("a table", () => {
  const PRICES = ["Article,Height,Price", "Lamp,30 cm,238 euros", "Desk,,90 euros", "Shelf,2 m,120 euros"].join("\n");

  it("is drawn as one in the reader, with empty cells", async () => {
    await open();
    await add("Prices.csv", "text/csv", Buffer.from(PRICES));
    await ready(page, "Prices");
    await page.getByRole("button", { name: "Open Prices" }).click();
    const table = page.getByRole("region", { name: "Text of Prices" }).getByRole("table");
    await table.getByRole("columnheader", { name: "Height" }).waitFor();
    assert.deepEqual(await table.getByRole("row").nth(2).getByRole("cell").allTextContents(), ["Desk", "", "90 euros"]);
    await page.getByRole("searchbox", { name: "Search in this document" }).fill("120 euros");
    await table.getByRole("row", { name: /Shelf/ }).locator("mark[aria-current]").waitFor();
    await shot(page, "201-table");
    assert.deepEqual(await axe(page), []);
  });

  it("marks the cited row", async () => {
    await open();
    await addDocument(page, "Fees of the harbour", `# Fees\n\nShip | Fee | Paid\nSmall boat | 20 euros | monthly\nSailing ship | 55 euros | monthly\nFerry to the island | 430 euros | yearly\n\nAll fees are due on the first day.\n`);
    await page.reload();
    await ask(page, "What is the fee of the ferry to the island?");
    await (await cited()).click();
    const row = page.getByRole("region", { name: "Text of Fees of the harbour" }).locator("tr[data-cited]");
    await row.filter({ hasText: "430 euros" }).waitFor();
    await many(row.locator("mark"), 3);
    await shot(page, "202-cited-row");
    assert.deepEqual(await axe(page), []);
  });
});
