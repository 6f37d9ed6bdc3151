// User messages: mentions stay mentions, editing supports everything that the
// composer does, the chosen version survives a reload, and a withdrawn message says so.
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { answer, answers, ask, axe, composer, dark, desktop, expectRefusal, mention, phone, send as sendTyped, shot } from "./browser.mjs";
import { arrive, faults, leaveNoFaults, model, page, useSlowModel } from "./suite.mjs";
import { addDocument, assertSoon, conversation, history, interrupted, many, progress, stop, writing, yours } from "./thread.mjs";

const NOTES = "Lighthouse notes";
const TIDES = "Tide tables of the harbour";
// Questions that the notes answer; about others Palaver would ask back.
const WHEN = "When does the lighthouse keeper wind the clock?";
const WHAT = "What does the lighthouse keeper wind every evening?";
const WHO = "Who winds the clock of the lighthouse at seven?";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

let notes;
let tides;

useSlowModel(["The clock ", "is wound ", "at seven."], 5);

/** Opens the page for a new user with two documents. */
const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
  notes = await addDocument(page, NOTES, `# ${NOTES}\n\nThe lighthouse keeper winds the clock every evening at seven.\n`);
  tides = await addDocument(page, TIDES, `# ${TIDES}\n\nHigh water stands at the quay at noon.\n`);
};

afterEach(async () => {
  model.hold = Infinity;
});
leaveNoFaults();

const pills = (on) => on.locator("[data-mention]");
const box = () => page.getByRole("textbox", { name: "Edited message" });
const editor = () => page.getByRole("form", { name: "Edit message" });
const save = () => editor().getByRole("button", { name: "Send", exact: true });
const list = () => page.getByRole("listbox", { name: "Mentions" });
const versions = () => page.getByRole("group", { name: "Versions" });

/** Sends "Summarize @Lighthouse notes in short", and waits for its answer. */
const send = async () => {
  await mention(page, "Summarize");
  await mention(page, NOTES);
  await composer(page).pressSequentially("in short");
  await composer(page).press("Enter");
  await answer(page, 1);
};

/** Opens the editor of the message with these words. */
const edit = async (words) => {
  const mine = yours(page).filter({ hasText: words });
  await mine.hover();
  await mine.getByRole("button", { name: "Edit message" }).click();
  await box().and(page.locator(":focus")).waitFor();
};

/** Waits until the server's newest user message has this text, and returns it. */
const kept = async (content) => {
  let found;
  await assertSoon(async () => {
    const { messages, active_turn } = await history(page);
    found = messages.findLast((m) => m.role === "user");
    return active_turn === null && found.content === content;
  }, `the server has "${content}"`);
  return found;
};

describe("a message", () => {
  beforeEach(() => open());

  it("shows what was mentioned in it as pills, at once and after a reload", async () => {
    await send();
    const shown = async () => {
      await many(pills(yours(page)), 2);
      assert.deepEqual(await pills(yours(page)).evaluateAll((all) => all.map((p) => [p.dataset.mention, p.textContent])), [["action", "Summarize"], ["document", NOTES]]);
      assert.match(await yours(page).textContent(), new RegExp(`^Summarize ${NOTES} in short`));
    };
    await shown();
    await shot(page, "60-pills");
    await page.reload();
    await shown();
  });

  it("opens what was mentioned in it by keyboard, and says so when that has been deleted", async () => {
    await send();
    const pill = yours(page).getByRole("button", { name: NOTES });
    const text = page.getByRole("region", { name: `Text of ${NOTES}` });
    await pill.focus();
    await page.keyboard.press("Enter");
    await text.getByText("winds the clock every evening").waitFor();
    await page.keyboard.press("Escape");
    await text.waitFor({ state: "detached" });
    await pill.and(page.locator(":focus")).waitFor();
    await page.request.delete(`/api/documents/${notes}`);
    expectRefusal(faults, 404);
    await page.reload();
    await pill.click();
    await page.getByText("This document was deleted.").waitFor();
  });

  it("stays plain text when its TipTap document has another text", async () => {
    const id = crypto.randomUUID();
    const text = (words) => ({ type: "text", text: words });
    const post = (words, content) =>
      page.request.post("/api/ui/chat", { data: { id, message: { id: crypto.randomUUID(), role: "user", parts: [text(words)] }, tiptap_json: { type: "doc", content } } });
    const pill = (label) => ({ type: "mention", attrs: { id: notes, label, category: "document" } });
    await post("Read <b>this</b>", [{ type: "paragraph", content: [text("Something else")] }]);
    await post("Read that @Plan", [{ type: "heading", content: [text("Read that "), pill("Plan")] }]);
    await post("Read all of @<img src=x>", [{ type: "paragraph", content: [text("Read all of "), pill("<img src=x>")] }]);
    await page.goto(`/chat/${id}`);
    await yours(page).getByText("Read <b>this</b>").waitFor();
    await yours(page).getByText("Read that @Plan").waitFor();
    await many(pills(yours(page)), 1);
    assert.equal(await pills(yours(page)).textContent(), "<img src=x>");
  });

  it("is edited with its mentions, which can be changed by keyboard", async () => {
    await send();
    await edit("in short");
    await many(box().locator(".mention"), 2);
    assert.equal(await box().textContent(), `@Summarize @${NOTES} in short`);
    assert.equal(await save().isDisabled(), true, "nothing has changed");
    await page.keyboard.type(" with @Tide");
    await page.getByRole("option", { name: TIDES }).waitFor();
    await shot(page, "61-edit-with-list");
    await page.keyboard.press("Enter"); // picks, and does not send
    await many(box().locator(".mention"), 3);
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("please");
    await shot(page, "62-edit");
    await page.keyboard.press("Enter");
    await many(pills(yours(page)), 3);
    const both = await kept(`Summarize @${NOTES} in short with @${TIDES} \nplease`);
    assert.deepEqual(both.metadata.tagged_doc_ids, [notes, tides]);
    assert.equal(both.metadata.tiptap_json.content[0].content[0].attrs.id, "summarize");
    assert.equal((await history(page)).messages.at(-1).metadata.action, "summarize");
    await versions().getByText("2/2").waitFor();

    await page.reload();
    await many(pills(yours(page)), 3);
    await edit("please");
    await many(box().locator(".mention"), 3);
    // Deletes from the end: "please", the line break, the space, and then the last mention.
    for (let i = 0; i < "please".length + 3; i++) await page.keyboard.press("Backspace");
    await many(box().locator(".mention"), 2);
    await page.keyboard.press("Enter");
    const one = await kept(`Summarize @${NOTES} in short with`);
    assert.deepEqual(one.metadata.tagged_doc_ids, [notes]);
    await many(pills(yours(page)), 2);
  });

  it("is edited by mouse too: the list lies over the messages below", async () => {
    await ask(page, WHEN);
    await answer(page, 1);
    await ask(page, WHAT);
    await answer(page, 2);
    await edit("When does");
    await page.keyboard.type(" @");
    await page.getByRole("option", { name: "Check against rules" }).click();
    await many(box().locator(".mention"), 1);
    await editor().getByRole("button", { name: "Cancel" }).click();
    await many(editor(), 0);
    await edit("When does");
    await page.keyboard.press("Shift+Escape"); // goes to the composer and does not cancel the editing
    await composer(page).and(page.locator(":focus")).waitFor();
    await box().waitFor();
  });

  it("is unchanged when Esc cancels the editing; the first Esc closes the list", async () => {
    await send();
    await edit("in short");
    await page.keyboard.type(" and @");
    await list().waitFor();
    await page.keyboard.press("Escape");
    await list().waitFor({ state: "detached" });
    await box().waitFor();
    await page.keyboard.press("Escape");
    await many(editor(), 0);
    await page.getByRole("button", { name: "Edit message" }).and(page.locator(":focus")).waitFor();
    await yours(page).getByText("in short").waitFor();
    await many(versions(), 0);
    await edit("in short");
    await page.keyboard.type(" about @nobody at all"); // text that opens no list
    await list().waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await many(editor(), 0);
  });

  it("is not sent while it is blank or too long", async () => {
    await send();
    await edit("in short");
    await box().fill("  ");
    assert.equal(await save().isDisabled(), true);
    await page.keyboard.press("Enter");
    await box().fill("x".repeat(32_001));
    await editor().getByText("32,001 of 32,000 characters").waitFor();
    assert.equal(await save().isDisabled(), true);
    await page.keyboard.press("Enter");
    await box().waitFor();
    await many(versions(), 0);
  });

  it("keeps its picture when it is edited, until the picture is removed", async () => {
    await page.locator("form[aria-label=Message] input[type=file]").setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("img", { name: "plan.png" }).waitFor();
    await ask(page, WHEN);
    await answer(page, 1);
    await page.reload();
    await yours(page).getByRole("img").waitFor();
    await edit(WHEN);
    await editor().getByRole("img", { name: "image 1" }).waitFor();
    await page.keyboard.type(" Tell me.");
    await page.keyboard.press("Enter");
    assert.equal((await kept(`${WHEN} Tell me.`)).metadata.attachments.length, 1);
    await yours(page).getByRole("img").waitFor();
    await edit("Tell me");
    assert.equal(await save().isDisabled(), true);
    await editor().getByRole("button", { name: "Remove image 1" }).click();
    await save().click();
    await yours(page).getByRole("img").waitFor({ state: "detached" });
    await versions().getByText("3/3").waitFor();
    assert.equal((await kept(`${WHEN} Tell me.`)).metadata.attachments, undefined);
  });

  it("shows the chosen version after a reload, and continues it", async () => {
    await ask(page, WHEN);
    await answer(page, 1);
    await edit("When does");
    await box().fill(WHO);
    await box().press("Enter");
    await versions().getByText("2/2").waitFor();
    await answer(page, 1);
    await versions().getByRole("button", { name: "Previous version" }).click();
    await yours(page).getByText(WHEN).waitFor();
    await page.reload();
    await yours(page).getByText(WHEN).waitFor();
    await versions().getByText("1/2").waitFor();
    await ask(page, WHAT);
    await answer(page, 2);
    await kept(WHAT);
    const said = async () => (await history(page)).messages.filter((m) => m.role === "user").map((m) => m.content);
    assert.deepEqual(await said(), [WHEN, WHAT]);
    await page.reload();
    await yours(page).getByText(WHAT).waitFor();
    await versions().getByRole("button", { name: "Next version" }).click();
    await yours(page).getByText(WHO).waitFor();
    await page.reload();
    await yours(page).getByText(WHO).waitFor();
    await versions().getByRole("button", { name: "Previous version" }).click();
    await yours(page).getByText(WHAT).waitFor();
    await page.reload();
    await yours(page).getByText(WHAT).waitFor();
  });

  it("that was withdrawn from the queue says so, and a stopped one too", async () => {
    model.hold = 1;
    await ask(page, WHEN);
    await writing(page).getByText("The clock").waitFor();
    await composer(page).fill("Never mind this one");
    await composer(page).press("Control+Enter");
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    await waiting.getByRole("button", { name: "Remove from queue" }).click();
    await many(waiting, 0);
    model.hold = Infinity;
    const back = yours(page).filter({ hasText: "Never mind" });
    const reads = async () => {
      await back.getByText("Withdrawn before it was answered").waitFor();
      await many(answers(page), 1);
      await many(interrupted(page), 0);
      await many(page.getByText("You stopped this answer", { exact: true }), 0);
    };
    await reads();
    await page.reload();
    await reads();
    await shot(page, "63-taken-back");

    model.hold = 0;
    await ask(page, WHAT);
    await progress(page).getByText("Researching your question...").waitFor();
    await stop(page).click();
    await conversation(page).getByText("You stopped this answer", { exact: true }).waitFor();
    await page.reload();
    await conversation(page).getByText("You stopped this answer", { exact: true }).waitFor();
    await many(page.getByText("Withdrawn before it was answered"), 1);
  });
});

for (const [name, look] of Object.entries({ light: desktop, dark })) {
  it(`axe finds no violations in pills and the editing of a message, ${name}`, async () => {
    await open(look);
    await send();
    const check = async (state) => assert.deepEqual(await axe(page), [], state);
    await page.mouse.move(0, 0);
    await check("pills");
    await edit("in short");
    await check("editing");
    await page.keyboard.type(" and @");
    await list().waitFor();
    await check("editing, with the list");
    await shot(page, `64-edit-${name}`);
  });
}

it("fits a phone", async () => {
  await open(phone);
  const fits = async (state) => {
    const over = await page.evaluate(() => [document.documentElement, document.querySelector(".conversation")].map((el) => el.scrollWidth - el.clientWidth));
    assert.deepEqual(over, [0, 0], state);
  };
  await addDocument(page, `Harbour-${"x".repeat(120)}`, "A long name.");
  await mention(page, "Harbour-");
  await page.keyboard.type("What does it say?");
  await sendTyped(page);
  await answer(page, 1);
  await fits("pills");
  await page.getByRole("button", { name: "Edit message" }).tap();
  await box().and(page.locator(":focus")).waitFor();
  await fits("editing");
  await page.keyboard.type(" @");
  await list().waitFor();
  await fits("with the list");
  await page.getByRole("option", { name: NOTES }).tap();
  await many(box().locator(".mention"), 2);
  await shot(page, "65-edit-phone");
});
