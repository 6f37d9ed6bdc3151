// Every main view is accessible and readable in light, dark and on phones.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, answers, ask, assist, axe, composer, dark, desktop, messageForm, openDocuments, phone, send, shot, still } from "../browser.mjs";
import { arrive, leaveNoFaults, page, useStack } from "../suite.mjs";
import { addDocument, conversation, many } from "../thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const small = { ...phone, viewport: { width: 360, height: 740 } };

useStack();
leaveNoFaults();

const open = async (look, path = "/") => {
  await arrive(look);
  await page.goto(path);
};
const check = async (view) => assert.deepEqual(await axe(page), [], view);
const close = async (dialog) => {
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
};

for (const [name, look] of Object.entries({ desktop, dark, phone })) {
  describe(`axe, moderate findings included, ${name}`, () => {
    const settings = async () => {
      if (look === phone && !(await page.getByRole("dialog", { name: "Chats" }).isVisible())) await page.getByRole("button", { name: "Chats", exact: true }).click();
      await page.getByRole("button", { name: "Settings" }).click();
    };

    it("in the dialogs of the person's menu", async () => {
      await open(look);
      for (const [item, title] of [["About you", "About you"], ["Personal keys", "Personal keys"], ["Usage", "Usage"], ["Delete everything…", "Delete everything?"], ["Sign out", "Sign out of this browser?"]]) {
        await settings();
        await check(`menu before ${item}`);
        await page.getByRole("menuitem", { name: item, exact: true }).click();
        const dialog = page.getByRole("dialog", { name: title }).or(page.getByRole("alertdialog", { name: title }));
        await dialog.waitFor();
        await check(item);
        await close(dialog);
      }
    });

    it("in the menus and the dialog of the composer, the library and its sets", async () => {
      await open(look);
      await page.getByRole("button", { name: /^Mode:/ }).click();
      await page.getByRole("menuitemradio", { name: "Assistant" }).waitFor();
      await check("modes");
      await page.keyboard.press("Escape");
      await messageForm(page).getByRole("button", { name: /^Choose documents/ }).click();
      const scope = page.getByRole("dialog").last();
      await scope.getByRole("checkbox").first().waitFor();
      await check("scope");
      await close(scope);
      await openDocuments(page);
      await check("library");
      await page.getByRole("tab", { name: "Sets" }).click();
      await check("sets");
      await page.getByRole("tab", { name: "Documents" }).click();
      await page.getByRole("button", { name: "Open Supplier Contract with Brightwater" }).click();
      await page.getByRole("region", { name: /^Text of/ }).waitFor();
      await check("reader");
    });

    it("in a conversation with a question, its closest passages and an answer", async () => {
      await open(look);
      await addDocument(page, "stock.csv", "part | store | number\nvalve | north | 4\npump | south | 7\n");
      await ask(page, QUESTION);
      await answer(page, 1);
      await page.getByRole("list", { name: "Sources" }).waitFor();
      await check("answer");
      await ask(page, "What is the capital of Mongolia?");
      await answers(page).nth(1).waitFor();
      await check("nothing found");
      await ask(page, "compare the supplier contract");
      await assist(page).getByRole("alert").getByText("Which document should “Supplier Contract with Brightwater” be compared with?").waitFor(); // finding 9
      const found = assist(page).getByRole("checkbox", { name: "Supplier Contract with Brightwater" });
      assert.ok((await found.isChecked()) && (await found.isDisabled()), "what was found is checked");
      await check("question");
      await shot(page, `views-question-${name}`);
      const compare = assist(page).getByRole("button", { name: "Compare", exact: true });
      assert.ok(await compare.isDisabled());
      await assist(page).getByRole("checkbox", { name: "Remote Work and Customer Data Policy 2024" }).check();
      await compare.click();
      await assist(page).waitFor({ state: "detached" });
      await conversation(page).getByRole("table").first().waitFor();
      await check("table");
    });
  });
}

describe("the list of chats on a desktop", () => {
  it("folds, stays folded after a reload, and gives its room to the conversation", async () => {
    await open(desktop);
    await ask(page, QUESTION);
    await answer(page, 1);
    const list = page.getByRole("navigation", { name: "Chats" });
    await list.waitFor();
    const width = async () => (await page.getByRole("main").boundingBox()).width;
    const before = await width();
    await page.getByRole("button", { name: "Hide chats" }).click();
    await list.waitFor({ state: "detached" });
    await still(page);
    assert.ok((await width()) > before + 150);
    await check("folded");
    await page.reload();
    await page.getByRole("button", { name: "Show chats" }).waitFor();
    await many(list, 0);
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await page.getByRole("button", { name: "Show chats" }).click();
    await list.getByRole("link").first().waitFor();
  });
});

describe("the composer on a phone", () => {
  for (const [name, look] of [["360 px", small], ["390 px", phone]]) {
    it(`cuts no name, and leaves its button in view with four attachments: ${name}`, async () => {
      await open(look);
      const cut = () => messageForm(page).evaluate((form) => [...form.querySelectorAll("button *")].filter((el) => el.children.length === 0 && el.checkVisibility() && el.scrollWidth > el.clientWidth + 1 && el.clientWidth > 1).map((el) => el.textContent));
      assert.deepEqual(await cut(), []);
      await page.getByRole("button", { name: "Mode: Document" }).waitFor();
      const files = ["a", "b", "c", "d"].map((n) => ({ name: `${n} paper.md`, mimeType: "text/markdown", buffer: Buffer.from(`# ${n}\n\nThe keeper rests.`) }));
      await page.locator("form input[type=file]").setInputFiles(files);
      await page.getByText("Put into the library").nth(3).waitFor();
      await composer(page).press("ControlOrMeta+End");
      await still(page);
      const button = await messageForm(page).getByRole("button", { name: "Send" }).boundingBox();
      assert.ok(button.y + button.height <= look.viewport.height, `the button ends at ${button.y + button.height}`);
      await shot(page, `views-attachments-${name.slice(0, 3)}`);
      await check("attachments");
      await composer(page).pressSequentially("When does the keeper rest?");
      await send(page);
      await answer(page, 1);
      await page.waitForFunction(() => document.title.startsWith("When does the keeper rest")); // not the names of the files
    });
  }
});
