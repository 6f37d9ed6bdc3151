import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, answers, ask, askTagging, assist, composer, dark, newPage, openDocuments, phone, shot, startBrowser, statuses, upload } from "./browser.mjs";
import { startStack } from "./stack.mjs";

const TITLE = "Field station handbook";
const RULE = "Researchers must return every borrowed kayak to the boathouse before sunset.";
// Characters outside the basic plane before the passage, and after it in the
// sentence, would shift a highlight that counts UTF-16 units.
const HANDBOOK = `# ${TITLE}

🌊🛶 This handbook is for everyone who works at the field station 🏕️. It was written by the station's own staff.

## Kitchen

Meals are cooked by turns. The rota hangs beside the stove, and whoever cooks does not wash up.

## Boats

${RULE} A kayak that is kept overnight needs the written consent of the station manager. Life jackets hang by the door.

## Laboratory

Samples are labelled with date, place and the collector's initials. Unlabelled samples are thrown away on Fridays.
`;

let stack;
let browser;

before(async () => {
  [stack, browser] = await Promise.all([startStack(), startBrowser()]);
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

describe("a person with a document", () => {
  let page;
  let context;
  let faults;
  let thread;
  let broken = "";

  /** The steps are one story: after one that failed, the rest say so at once. */
  const step = (name, play) =>
    it(name, async () => {
      assert.equal(broken, "", `not tried after: ${broken}`);
      broken = name;
      await play().catch(async (err) => {
        await shot(page, "failed");
        throw err;
      });
      broken = "";
    });

  before(async () => {
    ({ page, context, faults } = await newPage(browser, stack.url));
  });

  after(() => context?.close());

  step("is told on the first page what this is and that no model is configured", async () => {
    await page.goto("/");
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await page.getByText("Offline engine").waitFor();
    await shot(page, "01-welcome");
  });

  step("uploads it and sees it become ready", async () => {
    await upload(page, `${TITLE}.md`, HANDBOOK);
    const row = page.getByRole("list", { name: "Documents" }).getByRole("listitem").filter({ hasText: TITLE });
    await row.and(page.locator("[data-status=ready]")).waitFor();
    await shot(page, "02-documents");
    await page.getByRole("button", { name: "Close Documents" }).click();
  });

  step("asks, sees what is being done, and reads an answer with citations", async () => {
    await ask(page, "When must borrowed kayaks be returned to the boathouse?");
    const got = await answer(page, 1);
    assert.match(await got.textContent(), /before sunset/);
    assert.ok((await got.locator("[data-citation]").count()) > 0, "the answer has a citation");
    await got.getByText(/\d+ tokens?/).waitFor();
    const seen = await statuses(page);
    assert.ok(seen.some((s) => /Clarifying|Finding|Validating|Researching/.test(s)), `no status was seen: ${seen}`);
    assert.match(page.url(), /\/chat\/[0-9a-f-]{36}$/);
    thread = page.url();
    await shot(page, "03-answer");
  });

  step("opens a citation and sees its quote marked, character for character, in the document", async () => {
    const got = answers(page).first();
    const cites = got.locator("[data-citation]");
    let marked = "";
    for (let i = 0; i < (await cites.count()) && !marked.includes("kayak"); i++) {
      await cites.nth(i).click();
      marked = await page.getByRole("region", { name: /^Text of/ }).locator("mark").textContent();
    }
    assert.ok(HANDBOOK.includes(marked), `the mark is not verbatim: ${marked}`);
    assert.match(marked, /borrowed kayak/);
    await shot(page, "04-citation");
    await page.getByRole("button", { name: /^Close/ }).click();
  });

  step("is asked which action to take, reloads, is still asked, and answers", async () => {
    await ask(page, "Summarize and audit this document");
    await assist(page).getByRole("button", { name: "Summarize" }).waitFor();
    await assist(page).getByRole("button", { name: "Audit" }).waitFor();
    assert.equal(await composer(page).isDisabled(), true);
    await shot(page, "05-question");
    await page.reload();
    await assist(page).getByRole("button", { name: "Summarize" }).waitFor();
    await shot(page, "06-question-after-reload");
    await assist(page).getByRole("button", { name: "Summarize" }).click();
    const got = await answer(page, 2);
    assert.ok((await got.locator("[data-citation]").count()) > 0, "the summary has a citation");
    assert.equal(await assist(page).count(), 0);
    await page.getByRole("log").getByText("I can only perform one action at a time").waitFor();
    await shot(page, "07-after-the-choice");
  });

  step("cancels a question and at once asks something else", async () => {
    await ask(page, "Summarize and audit this document");
    await assist(page).getByRole("button", { name: "Cancel" }).click();
    await assist(page).waitFor({ state: "detached" });
    await ask(page, "Where do life jackets hang?");
    assert.match(await (await answer(page, 3)).textContent(), /by the door/);
  });

  step("sees the turn go on when the question is answered in another tab", async () => {
    await ask(page, "Summarize and audit this document");
    await assist(page).getByRole("button", { name: "Summarize" }).waitFor();
    const tab = await context.newPage();
    await tab.goto(thread);
    await assist(tab).getByRole("button", { name: "Summarize" }).click();
    await answer(tab, 4);
    await answer(page, 4);
    assert.equal(await assist(page).count(), 0);
    await tab.close();
  });

  step("is asked what to do when the documents hold little about it, and tags where to look", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await ask(page, "zebra quasar xylophone?");
    await assist(page).getByRole("button", { name: "Continue anyway" }).waitFor();
    await shot(page, "07-little-found");
    await assist(page).getByRole("button", { name: "Tag specific documents" }).click();
    await askTagging(page, "", TITLE, "");
    await assist(page).waitFor({ state: "detached" });
    await assist(page).or(answers(page)).first().waitFor();
    await shot(page, "07-tagged");
  });

  step("answers a question by tagging a document in the composer", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("combobox", { name: "What to do" }).selectOption("summarize");
    await ask(page, "Please sum it up");
    await assist(page).getByText("tag the document").waitFor();
    await askTagging(page, "", TITLE, "");
    assert.ok((await (await answer(page, 1)).locator("[data-citation]").count()) > 0);
    await page.getByRole("combobox", { name: "What to do" }).selectOption("");
  });

  step("opens the old conversation, where everything still stands", async () => {
    await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: /kayak/ }).click();
    await page.waitForURL(thread);
    await answer(page, 4);
    assert.match(await answers(page).first().textContent(), /before sunset/);
    await answers(page).first().locator("[data-citation]").first().click();
    await page.getByRole("region", { name: /^Text of/ }).locator("mark").waitFor();
    await page.goBack();
    assert.notEqual(page.url(), thread);
    await page.goForward();
    await answer(page, 4);
    await shot(page, "08-old-conversation");
  });

  step("reads the same on a phone and in the dark", async () => {
    const storageState = await context.storageState();
    for (const [name, look] of Object.entries({ phone, dark })) {
      const other = await newPage(browser, stack.url, { ...look, storageState });
      await other.page.goto(thread);
      await answer(other.page, 4);
      await shot(other.page, `09-${name}`);
      const wider = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `the page is ${wider} px wider than the ${name}`);
      if (name === "phone") {
        await other.page.getByRole("button", { name: "Conversations" }).click();
        await other.page.getByRole("dialog").getByRole("link", { name: /kayak/ }).waitFor();
        await shot(other.page, "10-phone-conversations");
      }
      assert.deepEqual(other.faults, []);
      await other.context.close();
    }
  });

  step("is told in plain words about a file that cannot be read", async () => {
    await upload(page, "picture.bin", "\u0000\u0001\u0002");
    await page.getByText("picture.bin:").waitFor();
    const refused = /status of 415|Failed to load resource/;
    faults = faults.filter((f) => !refused.test(f)); // the browser's own note of the refusal
    await shot(page, "11-refused-file");
  });

  step("deletes the document and the conversation", async () => {
    page.on("dialog", (d) => d.accept());
    await page.getByRole("button", { name: `Delete ${TITLE}` }).click();
    await page.getByRole("list", { name: "Documents" }).getByText(TITLE).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Close Documents" }).click();
    await page.goto(thread);
    const row = page.getByRole("navigation", { name: "Conversations" }).getByRole("listitem").filter({ hasText: /kayak/ });
    await row.hover();
    await row.getByRole("button", { name: /^Delete/ }).click();
    await row.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
  });

  step("never had an error, a broken policy or a request to another host", async () => assert.deepEqual(faults, []));
});

describe("another person", () => {
  it("sees neither the conversation nor the document", async () => {
    const first = await newPage(browser, stack.url);
    await first.page.goto("/");
    await upload(first.page, "Private notes.md", "# Private notes\n\nThe spare key is under the blue stone.\n");
    await first.page.locator("[data-status=ready]").filter({ hasText: "Private notes" }).waitFor();
    await first.page.getByRole("button", { name: "Close Documents" }).click();
    await ask(first.page, "Where is the spare key?");
    await answer(first.page, 1);

    const second = await newPage(browser, stack.url);
    await second.page.goto(first.page.url());
    await second.page.getByText("This conversation does not exist").waitFor();
    await openDocuments(second.page);
    await second.page.getByRole("list", { name: "Documents" }).waitFor();
    assert.equal(await second.page.getByText("Private notes").count(), 0);
    await first.context.close();
    await second.context.close();
  });
});
