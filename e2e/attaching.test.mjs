// What is attached to a message: the focus, where it is kept, and what cannot be read of it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, ask, axe, composer, dark, desktop, messageForm, openDocuments, phone, shot } from "./browser.mjs";
import { gate } from "./model-server.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";
import { assertSoon, many, yours } from "./thread.mjs";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC", "base64");

useStack();
leaveNoFaults();

const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
};
const tray = () => page.getByRole("list", { name: "Attachments" });
const library = () => page.evaluate(async () => (await fetch("/api/documents").then((r) => r.json())).items.filter((d) => !d.public).map((d) => d.title));
const paste = (text) =>
  page.evaluate((words) => {
    const data = new DataTransfer();
    data.setData("text/plain", words);
    document.querySelector(".composer-text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);

describe("a file that is attached", () => {
  for (const [name, look] of Object.entries({ desktop, phone })) {
    it(`belongs to its chat, is found there only, and can be put into the library: ${name}`, async () => {
      await open(look);
      const button = page.getByRole("button", { name: "Add images or files" });
      const [dialog] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
      await dialog.setFiles({ name: "Okapi notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Okapi notes\n\nThe okapi of the zoo is called Bahati.\n") });
      await page.keyboard.type("What is the okapi called? "); // the caret is there, also on a touch screen
      await composer(page).locator(".mention", { hasText: "Okapi notes" }).waitFor();
      // On a busy machine the file arrives in the middle of the words. It parts none of them.
      assert.match((await composer(page).textContent()).replace(/@Okapi notes\s?/, ""), /What is the okapi called\?/);
      assert.match(await composer(page).innerText(), /^@Okapi notes\s+What is the okapi called\?/);
      await tray().getByText("Only in this chat").first().waitFor();
      await shot(page, `211-attached-${name}`);
      assert.deepEqual(await axe(page), []);
      await composer(page).press("Enter");
      if (name === "phone") await messageForm(page).getByRole("button", { name: "Send" }).click();
      await (await answer(page, 1)).getByText(/Bahati/).first().waitFor();
      assert.equal(await yours(page).getByText("Okapi notes").count(), 1, "the message shows its file once");
      await many(tray(), 0);
      assert.deepEqual(await library(), []);
      await ask(page, "Is the okapi called Bahati?");
      await (await answer(page, 2)).getByText(/Bahati/).first().waitFor();

      await openDocuments(page);
      await page.getByRole("list", { name: "Documents: Only in this chat" }).getByText("Okapi notes").waitFor();
      await shot(page, `212-library-of-a-chat-${name}`);
      await page.getByRole("button", { name: "Put Okapi notes into the library" }).click();
      await page.getByRole("list", { name: "Documents: Yours" }).getByText("Okapi notes").waitFor();
      assert.deepEqual(await library(), ["Okapi notes"]);
    });
  }

  it("stands once when it is put into the library, also before the documents of the chat are read again", async () => {
    await open();
    await page.locator("input[type=file]").first().setInputFiles(["Alpha", "Beta", "Gamma"].map((name) => ({ name: `${name}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# ${name}\n\nThe fee of ${name} is EUR 10.\n`) })));
    await many(tray().getByRole("button", { name: "Put into the library" }), 3);
    const read = gate();
    await page.route((url) => url.searchParams.has("conversation_id"), async (route) => {
      await read;
      await route.continue();
    });
    await tray().getByRole("listitem").filter({ hasText: "Alpha" }).getByRole("button", { name: "Put into the library" }).click();
    await tray().getByText("In your library").waitFor();
    await many(tray().getByRole("listitem"), 3);
    read.open();
    await many(tray().getByRole("button", { name: "Put into the library" }), 2);
    await many(tray().getByRole("listitem"), 3);
  });

  it("leaves the chat with its mention, and stays when the mention comes back", async () => {
    await open();
    const file = { name: "Okapi notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Okapi notes\n\nThe okapi of the zoo is called Bahati.\n") };
    await page.locator("form input[type=file]").setInputFiles(file);
    const mention = composer(page).locator(".mention", { hasText: "Okapi notes" });
    await mention.waitFor();
    await composer(page).press("ControlOrMeta+End");
    const drop = async () => {
      for (let i = 0; (await mention.count()) > 0; i++) {
        assert.ok(i < 3, "the mention is deleted");
        await page.keyboard.press("Backspace");
      }
    };
    await drop();
    await many(tray(), 0);
    await page.keyboard.press("ControlOrMeta+z");
    await mention.waitFor();
    await tray().getByText("Okapi notes").waitFor();
    await drop();
    await page.keyboard.type("What is the okapi called?");
    await page.keyboard.press("Enter");
    await answer(page, 1);
    const left = await page.evaluate(async () => (await fetch(`/api/documents?conversation_id=${location.pathname.split("/").at(-1)}`).then((r) => r.json())).items);
    assert.deepEqual(left, []);
    assert.deepEqual(await library(), []);
  });

  it("stays with the draft when a suggestion is sent", async () => {
    await open();
    await page.locator("form input[type=file]").setInputFiles({ name: "Okapi notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Okapi notes\n\nThe okapi is called Bahati.\n") });
    const mention = composer(page).locator(".mention", { hasText: "Okapi notes" });
    await mention.waitFor();
    await page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name: /^Compare|^What changed/ }).click();
    await answer(page, 1);
    const attached = () => page.evaluate(async () => (await fetch(`/api/documents?conversation_id=${location.pathname.split("/").at(-1)}`).then((r) => r.json())).items.length);
    assert.equal(await attached(), 0);
    await page.getByRole("button", { name: "New chat" }).click();
    await mention.waitFor();
    await composer(page).press("ControlOrMeta+End");
    await page.keyboard.type("What is the okapi called?");
    await page.keyboard.press("Enter");
    await (await answer(page, 1)).getByText(/Bahati/).first().waitFor();
    assert.equal(await attached(), 1);
  });

  it("is mentioned in the order in which the files were chosen, whichever arrives first", async () => {
    await open();
    const arrivals = [gate(), gate(), gate()];
    let sent = 0;
    await page.route("**/api/documents", async (route) => {
      if (route.request().method() === "POST") await arrivals[sent++];
      await route.continue();
    });
    const file = (name) => ({ name: `${name}.md`, mimeType: "text/markdown", buffer: Buffer.from(`# ${name}\n\nThe ${name.toLowerCase()} is awake.\n`) });
    await page.locator("form input[type=file]").setInputFiles(["Aardvark", "Badger", "Civet"].map(file));
    await composer(page).pressSequentially("Who is awake?");
    for (const [left, i] of [2, 0, 1].entries()) {
      arrivals[i].open();
      await many(page.getByRole("progressbar"), 2 - left);
    }
    await many(composer(page).locator(".mention"), 3);
    assert.match(await composer(page).innerText(), /^@Aardvark\s+@Badger\s+@Civet\s+Who is awake\?/);
  });

  for (const [name, look] of Object.entries({ desktop, phone, dark })) {
    it(`says at once that a picture cannot be used, when nothing here sees pictures: ${name}`, async () => {
      await open(look);
      const [dialog] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Add images or files" }).click()]);
      await dialog.setFiles({ name: "Lamp.png", mimeType: "image/png", buffer: PNG });
      await tray().getByRole("img", { name: "Lamp.png" }).waitFor();
      await tray().getByText("What is in pictures can't be used for answers here.").waitFor();
      await shot(page, `213-blind-${name}`);
      assert.deepEqual(await axe(page), []);
    });
  }

  it("costs nothing without a model, so its answer shows no tokens", async () => {
    await open();
    await ask(page, "How many days a week may employees work remotely?");
    const got = await answer(page, 1);
    await got.locator("summary[aria-label='About this answer']").click();
    await got.getByText(/confidence$/).waitFor();
    await many(got.getByText(/tokens/), 0);
  });

  it("is chosen with one click on the welcome page", async () => {
    await open();
    const dialog = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Add a document" }).click();
    await (await dialog).setFiles({ name: "Kayak rules.txt", mimeType: "text/plain", buffer: Buffer.from("Kayaks are returned before sunset.") });
    await composer(page).locator(".mention", { hasText: "Kayak rules" }).waitFor();
    await page.waitForFunction(() => document.activeElement.closest(".composer-text"));
  });

  it("can be dropped anywhere: while it is dragged, the whole page says so", async () => {
    await open();
    await composer(page).waitFor();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(["x"], "a.txt", { type: "text/plain" }));
      document.querySelector("main").dispatchEvent(new DragEvent("dragenter", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    const { x, y, width, height } = await page.locator("body > div", { hasText: "Drop files to add them to your message" }).last().boundingBox();
    const { width: wide, height: high } = page.viewportSize();
    assert.ok(x + y < 50 && width > wide - 50 && height > high - 50, "nothing of the page is beside it");
  });

  it("is written behind after a drop", async () => {
    await open();
    await page.getByRole("searchbox", { name: "Search chats" }).focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.items.add(new File(["Kayaks are returned before sunset."], "Kayak rules.txt", { type: "text/plain" }));
      document.querySelector("main").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    });
    await page.keyboard.type("hello");
    await composer(page).locator(".mention", { hasText: "Kayak rules" }).waitFor();
    assert.match(await composer(page).textContent(), /hello/);
  });
});

describe("a long text that is pasted", () => {
  it("is kept as a document with a title, and can be undone", async () => {
    await open();
    await composer(page).click();
    await page.keyboard.type("Please check ");
    await paste(`${"the supplier pays at length and without a title, ".repeat(800)}`);
    await tray().getByText("Kept as a document. Only in this chat").waitFor();
    await composer(page).locator(".mention", { hasText: /^@Pasted text, / }).waitFor();
    await shot(page, "213-long-paste");
    assert.deepEqual(await axe(page), []);
    await tray().getByRole("button", { name: "Undo" }).click();
    await many(composer(page).locator(".mention"), 0);
    await assertSoon(async () => (await composer(page).textContent()).trim() === "Please check", "the rest stays");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await assertSoon(async () => (await library()).length === 0, "it is deleted");
  });

  it("can be a part of the message, if that has room for it", async () => {
    await open();
    await composer(page).click();
    await page.keyboard.type("Please check ");
    await paste("the supplier pays at length\n".repeat(200));
    await tray().getByRole("button", { name: "Paste as text" }).click();
    await many(composer(page).locator(".mention"), 0);
    assert.match(await composer(page).textContent(), /^Please check\s+(?:the supplier pays at length\s*){200}$/);
  });
});
