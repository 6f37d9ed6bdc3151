// Discovery boards: the list, the board by hand, and the chat beside it. Tests of the
// chat have the names of its features.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHURN, addFact, boardOf, box, card, chatButton, deleteFact, eachANewPerson, editFact, field, inCard, item, menu, notice, openBoard, openChat, panel, press, propose, say, script, state, told } from "./boards.mjs";
import { axe, composer, dark, desktop, expectRefusal, phone, shot } from "./browser.mjs";
import { gate } from "./model-server.mjs";
import { arrive, faults, page } from "./suite.mjs";
import { addDocument, assertSoon, interrupted, many, stop, yours } from "./thread.mjs";

describe("the list of boards", () => {
  eachANewPerson();

  it("is linked in the sidebar, creates a board, and a deleted one can be restored", async () => {
    await page.goto("/");
    await page.getByRole("link", { name: "Discovery" }).click();
    await page.getByRole("list", { name: "The columns of a board" }).waitFor();
    await press("New board").click();
    assert.ok(await press("Save").isDisabled(), "a board needs a title");
    await field("Title").fill("Churn");
    await press("Save").click();
    await page.waitForURL(/\/discovery\/[0-9a-f-]{36}$/);
    await press("Title and goal").click();
    await field("Title").fill("Churn in spring");
    await field("Goal").fill("Find the cause");
    await press("Save").click();
    await page.getByRole("heading", { name: "Churn in spring" }).waitFor();
    await press("All boards").click();
    const row = page.getByRole("link", { name: /^Churn in spring/ });
    await row.waitFor();
    await press("Options for Churn in spring").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await row.waitFor({ state: "detached" });
    await press("Undo").click();
    await row.waitFor();
    await row.click();
    await page.getByText("Find the cause").waitFor();
    await page.goBack();
    await row.waitFor();
  });

  it("explains itself, and has an example, on the desktop, in dark colours and on a phone", async () => {
    for (const [name, look] of Object.entries({ desktop, dark, phone })) {
      await arrive(look);
      await page.goto("/discovery");
      await many(page.getByRole("list", { name: "The columns of a board" }).getByRole("listitem"), 5);
      assert.deepEqual(await axe(page), []);
      await shot(page, `10-discovery-empty-${name}`);
      await press("Open an example").click();
      await item("R-2").waitFor();
      const board = await boardOf(page.url().split("/").at(-1));
      assert.deepEqual(board.recommendations.map((r) => r.related_insights), [["N-1", "N-2"], ["N-2"]]);
      assert.ok(["facts", "insights", "recommendations", "outputs"].flatMap((c) => board[c]).every((i) => Object.entries(i).some(([k, v]) => k.startsWith("related_") && v.length > 0)), "everything has a source");
      await shot(page, `10-discovery-example-${name}`);
    }
  });

  it("imports a file and exports it with everything in it, and says what is wrong with another file", async () => {
    const file = { ...CHURN, chat_history: [{ id: "m1", role: "user", content: "An old question" }, { id: "m2", role: "assistant", content: "An old answer about F-1" }], their_own: { kept: true } };
    const choose = (name, text) => page.locator("input[type=file]").first().setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(text) });
    await choose("broken.json", "[1]");
    await notice("broken.json is not a JSON file of a board.").waitFor();
    expectRefusal(faults, 400);
    await choose("wrong.json", JSON.stringify({ facts: "none" }));
    await notice(/wrong\.json couldn't be imported.*facts/).waitFor();
    await choose("churn.json", JSON.stringify(file));
    await page.waitForURL(/\/discovery\/[0-9a-f-]{36}$/);
    await item("N-1").waitFor();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export" }).click();
    const got = await download;
    assert.equal(got.suggestedFilename(), "Why do customers leave.json");
    const exported = JSON.parse(await (await import("node:fs/promises")).readFile(await got.path(), "utf8"));
    assert.deepEqual(exported.their_own, { kept: true });
    assert.equal(exported.facts.length, 3);
    await press("Open chat").click();
    await page.getByRole("region", { name: "Imported chat" }).getByText("An old question").waitFor();
    await page.locator("[data-reference=F-1]").waitFor();
  });
});

describe("a board by hand", () => {
  eachANewPerson();

  it("is built by keyboard alone: add, relate, edit, delete, undo", async () => {
    const id = await openBoard({ title: "Empty" });
    await press("Add input").focus();
    await page.keyboard.press("Enter");
    await field("Title").fill("Report");
    await field("Text").fill("Numbers of the year");
    await press("Add").press("Enter");
    await item("I-1").waitFor();
    await press("Add fact").press("Enter");
    await field("Text").fill("Sales rose");
    await page.keyboard.press("Escape");
    await field("Text").waitFor({ state: "detached" });
    await press("Add fact").press("Enter");
    assert.equal(await field("Text").inputValue(), "Sales rose", "what was written is there again");
    await page.getByRole("checkbox", { name: /^I-1/ }).press("Space");
    await press("Add").press("Enter");
    await item("F-1").waitFor();
    assert.deepEqual((await boardOf(id)).facts[0].related_inputs, ["I-1"]);

    await item("I-1").focus();
    await page.keyboard.press("ArrowRight");
    assert.ok(await item("F-1").evaluate((el) => el === document.activeElement));
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await field("Text").fill("Numbers of two years");
    await press("Save").press("Enter");
    await item("F-1").getByText("Out of date: I-1 changed").waitFor();
    await item("F-1").focus();
    await page.keyboard.press("Tab"); // past its options
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await item("F-1").getByText("Out of date").waitFor({ state: "detached" });

    await item("I-1").focus();
    await page.keyboard.press("Delete");
    await item("I-1").waitFor({ state: "detached" });
    await item("F-1").getByText("Out of date: I-1 changed").waitFor();
    await press("Changes").press("Enter");
    await press("Undo: Deleted I-1").press("Enter");
    await item("I-1").waitFor();
    await page.getByText("Undone: Deleted I-1").waitFor();
    assert.deepEqual((await boardOf(id)).facts[0].related_inputs, ["I-1"]);
  });

  it("does not overwrite what another tab has written: it shows both texts", async () => {
    expectRefusal(faults, 412);
    const id = await openBoard();
    await menu("F-3", "Edit");
    await field("Text").fill("Support answers within three days.");
    await page.request.patch(`/api/discoveries/${id}/items/F-1`, { data: { status: "draft" } });
    await page.request.patch(`/api/discoveries/${id}/items/F-3`, { data: { text: "Support answers within an hour." } });
    await press("Save").click();
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("This item was changed elsewhere while you edited it.").waitFor();
    await alert.getByText("Support answers within an hour.", { exact: true }).waitFor();
    assert.equal(await alert.locator("ins").allTextContents().then((t) => t.join(" ")), "three days");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-conflict");
    await press("Save mine").click();
    await item("F-3").getByText("Support answers within three days.").waitFor();

    // A change of another item is not a conflict.
    await menu("F-2", "Edit");
    await page.request.patch(`/api/discoveries/${id}/items/F-1`, { data: { status: "final" } });
    await field("Text").fill("Ten of twelve customers never sent an invoice.");
    await press("Save").click();
    await item("F-2").getByText("Ten of twelve").waitFor();
  });
});

describe("the chat on a board", () => {
  eachANewPerson();

  it("FS-ChatWidgetToggle: the button opens and closes it, and counts what came while it was closed", async () => {
    await openBoard();
    const at = await box(chatButton());
    assert.deepEqual([Math.round(1280 - at.x - at.width), Math.round(800 - at.y - at.height)], [24, 24]);
    await chatButton().click();
    const there = await box(panel());
    assert.deepEqual([there.width, there.height, 1280 - there.x - there.width, 800 - there.y - there.height], [400, 500, 24, 80]);
    assert.ok(await composer(page).evaluate((el) => el === document.activeElement), "the message box has the focus");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-chat");
    const hold = gate();
    script.set("later", { say: ["It came later."], hold });
    await say("An answer for later");
    await stop(page).waitFor();
    await chatButton().click();
    await panel().waitFor({ state: "detached" });
    hold.open();
    await page.getByRole("button", { name: "Open chat, 1 unread answer" }).waitFor();
    assert.equal(await page.locator("[data-unread]").textContent(), "1");
    await chatButton().click();
    await told("It came later.").waitFor();
    assert.equal(await page.locator("[data-unread]").count(), 0);
  });

  it("FS-ChatAtMentionSelect: the picked item is a pill in the message", async () => {
    await openChat();
    await composer(page).pressSequentially("Why is @F-2");
    await page.getByRole("option", { name: /^F-2/ }).waitFor();
    await composer(page).press("Enter");
    await composer(page).locator(".mention", { hasText: "@F-2" }).waitFor();
    await composer(page).pressSequentially("true?");
    assert.equal((await composer(page).innerText()).trim(), "Why is @F-2 true?");
  });

  it("FS-SendMessage: with Enter or its button, never an empty one; Shift+Enter makes a line", async () => {
    const id = await openChat();
    await composer(page).press("Enter");
    await composer(page).pressSequentially("First line");
    await composer(page).press("Shift+Enter");
    await composer(page).pressSequentially("second line");
    await composer(page).press("Enter");
    await told("I have read the board.").waitFor();
    await assertSoon(() => page.getByRole("article", { name: "Palaver", exact: true }).isVisible(), "the answer has ended");
    await composer(page).fill("And this one");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await many(page.getByRole("article", { name: "Palaver", exact: true }), 2);
    await assertSoon(async () => (await boardOf(id)).chat_history.length === 4, "two messages with their answers");
    const { chat_history: said } = await boardOf(id);
    assert.deepEqual(said.filter((m) => m.role === "user").map((m) => m.content.trim()), ["First line\nsecond line", "And this one"]);
  });

  it("FS-StreamingResponse: the answer comes word by word", async () => {
    await openChat();
    const hold = gate();
    script.set("begin", { say: ["It begins, "], hold, after: "" });
    await say("Let it begin");
    await yours(page).getByText("Let it begin").waitFor();
    await page.getByRole("article", { name: "Palaver is writing" }).getByText("It begins,").waitFor();
    hold.open();
    await page.getByRole("article", { name: "Palaver", exact: true }).waitFor();
  });

  it("FS-ChatAddItem: a card shows what is to be added, and the board waits", async () => {
    const id = await openChat();
    await propose(addFact);
    await state("Add a fact", "pending");
    await card("Add a fact").getByText("Half of all invoices are late.").waitFor();
    await card("Add a fact").locator("[data-reference=I-2]").waitFor();
    for (const name of ["Confirm", "Edit", "Cancel"]) await inCard("Add a fact", name).waitFor();
    assert.equal((await boardOf(id)).facts.length, 3, "nothing is added before the confirmation");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-add");
  });

  it("FS-ChatAddItemConfirm: a double click adds it once, and it can be undone", async () => {
    const id = await openChat();
    await propose(addFact);
    await inCard("Add a fact", "Confirm").dblclick();
    await state("Add a fact", "applied");
    await item("F-4").waitFor();
    const { facts } = await boardOf(id);
    assert.deepEqual(facts.slice(3).map((f) => [f.fact_id, f.text, f.related_inputs]), [["F-4", "Half of all invoices are late.", ["I-2"]]]);
    await inCard("Add a fact", "Undo").click();
    await item("F-4").waitFor({ state: "detached" });
  });

  it("FS-ChatDeleteItemConfirm: the item goes, and what is downstream is marked", async () => {
    await openChat();
    await propose(deleteFact);
    await inCard("Delete F-1", "Confirm deletion").click();
    await state("Delete F-1", "applied");
    await item("F-1").waitFor({ state: "detached" });
    await item("O-1").getByText("Out of date: F-1 changed").waitFor();
  });

  it("FS-ChatEditItemApply: applying makes a version", async () => {
    const id = await openChat();
    await propose(editFact);
    await inCard("Change F-3", "Apply").click();
    await state("Change F-3", "applied");
    await item("F-3").getByText("Support answers within one day.").waitFor();
    const fact = (await boardOf(id)).facts[2];
    assert.deepEqual([fact.version, fact.changed_by, fact.earlier_versions.length], [2, "assistant", 1]);
  });

  it("FS-ChatHistoryPersisted: it is there after a reload, with the states of its cards", async () => {
    await openChat();
    await propose(addFact);
    await inCard("Add a fact", "Confirm").click();
    await state("Add a fact", "applied");
    await page.reload();
    await chatButton().click();
    await yours(page).getByText("Do it, please").waitFor();
    await told("I propose this.").waitFor();
    await state("Add a fact", "applied");
  });

  it("FS-ChatErrorDisplay: what came is kept and marked, the failure says why, and one can go on", async () => {
    const id = await openChat();
    const hold = gate();
    script.set("fails", { say: ["Half an answer, "], hold, cut: true });
    await say("This fails");
    await told("Half an answer,").waitFor();
    hold.open();
    const alert = panel().getByRole("alert");
    await alert.waitFor();
    assert.match(await alert.innerText(), /The AI service didn't respond\. Try again in a moment\./);
    await told("Half an answer,").waitFor();
    await interrupted(page).waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-failure");
    await assertSoon(async () => (await composer(page).getAttribute("contenteditable")) === "true", "the message box accepts text again");
    await say("Go on");
    await told("I have read the board.").waitFor();
    assert.equal((await boardOf(id)).facts.length, 3);
  });

  it("the facts of a document are proposed at once, each with its passage, and are confirmed together", async () => {
    const doc = await addDocument(page, "Retention policy", "# Retention\n\nInvoices are kept for ten years.\n\nEvery customer record is deleted within 30 days of a request.");
    const id = await openChat();
    const fact = (text, quote) => ({ name: "add_item", args: { entity_type: "fact", text, document: doc, quote } });
    await propose({ name: "add_document", args: { document: doc } }, fact("Invoices stay for ten years.", "Invoices are kept for ten years."), fact("Records go after 30 days.", "deleted within 30 days of a request"));
    await state("Add an input", "pending");
    await many(panel().locator("[data-evidence]"), 2);
    await panel().locator("[data-evidence]").getByText("Invoices are kept for ten years", { exact: true }).waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-facts");
    await panel().locator("[data-citation]").first().click();
    const mark = page.getByRole("region", { name: "Text of Retention policy" }).locator("mark");
    await mark.waitFor();
    assert.equal(await mark.textContent(), "Invoices are kept for ten years");
    await shot(page, "10-discovery-passage");
    await press("Confirm all 3").click();
    await item("F-5").waitFor();
    const { inputs, facts } = await boardOf(id);
    assert.equal(inputs[2].document_id, doc);
    assert.deepEqual(facts.slice(3).map((f) => [f.related_inputs, f.citation.document_id, f.citation.quote]), [
      [["I-3"], doc, "Invoices are kept for ten years"],
      [["I-3"], doc, "deleted within 30 days of a request"],
    ]);
    await chatButton().click();
    await item("F-5").getByRole("button", { name: "Source: Retention policy" }).click();
    await assertSoon(async () => (await mark.textContent()) === "deleted within 30 days of a request", "its own passage");
    assert.deepEqual(await axe(page), []);
    await menu("F-5", "Edit");
    await page.getByRole("dialog").locator("[data-evidence] blockquote").getByText("deleted within 30 days of a request").waitFor();
    assert.deepEqual(await axe(page), []);
  });
});
