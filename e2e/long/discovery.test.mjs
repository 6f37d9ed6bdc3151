// More of the discovery boards and of the chat beside them, by the names of its features.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHURN, addFact, asked, boardOf, box, card, chatButton, deleteFact, eachANewPerson, editFact, field, inCard, item, makeBoard, menu, notice, openBoard, openChat, panel, press, propose, say, script, state, told } from "../boards.mjs";
import { axe, composer, dark, desktop, expectCuts, expectRefusal, phone, shot } from "../browser.mjs";
import { startFront } from "../front.mjs";
import { gate } from "../model-server.mjs";
import { arrive, context, faults, page, stack } from "../suite.mjs";
import { addDocument, assertSoon, interrupted, many, stop, yours } from "../thread.mjs";

describe("a board by hand", () => {
  eachANewPerson();

  it("shows on hover and focus what an item builds on and what builds on it", async () => {
    await openBoard();
    const roles = () => page.locator("[data-role]").evaluateAll((all) => Object.fromEntries(all.filter((el) => el.dataset.item).map((el) => [el.dataset.item, el.dataset.role])));
    const all = { "I-1": "up", "I-2": "up", "F-1": "up", "F-2": "up", "N-1": "self", "R-1": "down", "O-1": "down" };
    await item("N-1").hover();
    await assertSoon(async () => JSON.stringify(await roles()) === JSON.stringify(all), "the items are marked");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-board");
    await page.getByRole("heading", { name: CHURN.title }).hover();
    await assertSoon(async () => Object.keys(await roles()).length === 0, "nothing is marked");
    await item("F-3").focus();
    await assertSoon(async () => JSON.stringify(await roles()) === JSON.stringify({ "F-3": "self" }), "one item is marked");
    await item("I-1").focus();
    await page.keyboard.press("Tab");
    await assertSoon(async () => (await roles())["F-1"] === "down", "focus on its buttons also marks the items");
  });

  it("keeps the versions of an item, and restores one", async () => {
    const id = await openBoard();
    await menu("F-1", "Edit");
    await field("Text").fill("Churn rose from 2.1% to 3.6% in one quarter.");
    await press("Save").click();
    await notice("F-1 was saved. 3 items downstream may be out of date now.").waitFor();
    await menu("F-1", "Versions");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Version 2").waitFor();
    assert.equal(await dialog.locator("del").first().textContent(), "3.4");
    assert.equal(await dialog.locator("ins").first().textContent(), "3.6");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-versions");
    await dialog.getByRole("button", { name: "Use this text" }).click();
    await press("Save").click();
    await assertSoon(async () => (await boardOf(id)).facts[0].version === 3, "a third version");
    assert.equal((await boardOf(id)).facts[0].text, CHURN.facts[0].text);
  });

  it("is searched and filtered", async () => {
    await openBoard();
    const shown = page.locator("[data-item]");
    await page.getByRole("searchbox", { name: "Search this board" }).fill("churn");
    await many(shown, 2);
    await page.getByRole("searchbox", { name: "Search this board" }).fill("");
    await page.getByLabel("Show", { exact: true }).selectOption("Not connected");
    await many(shown, 1);
    await item("F-3").waitFor();
    await page.getByLabel("Show", { exact: true }).selectOption("Status: checked");
    await item("F-1").waitFor();
    await many(shown, 1);
  });

  it("shows what is nearly the same before it adds it, and lets the person go on", async () => {
    expectRefusal(faults, 409);
    const id = await openBoard();
    await press("Add fact").click();
    await field("Text").fill("Churn rose from 2.1% to 3.4% in one quarter");
    await press("Add").click();
    const alert = page.getByRole("dialog").getByRole("alert");
    await alert.getByText("The board already has something very similar:").waitFor();
    await alert.getByText("F-1").waitFor();
    assert.deepEqual(await axe(page), []);
    await press("Add anyway").click();
    await item("F-4").waitFor();
    assert.equal((await boardOf(id)).facts.length, 4);
  });

  it("takes an input from a document of the library", async () => {
    const doc = await addDocument(page, "Leave policy", "Every employee has thirty days of leave.");
    const id = await openBoard({ title: "Leave" });
    await press("Add input").click();
    await field("From a document of your library").selectOption("Leave policy");
    await assertSoon(async () => (await field("Text").inputValue()).includes("thirty days"), "its text");
    await press("Add").click();
    await item("I-1").waitFor();
    const { inputs } = await boardOf(id);
    assert.deepEqual([inputs[0].title, inputs[0].type, inputs[0].document_id], ["Leave policy", "document", doc]);
    await item("I-1").getByRole("button", { name: "Document: Leave policy" }).click();
    await page.getByRole("region", { name: "Text of Leave policy" }).getByText("thirty days").waitFor();
    assert.deepEqual(await axe(page), []);
  });

  it("shows what was changed in another tab, when it has the focus again", async () => {
    const id = await openBoard();
    await page.request.patch(`/api/discoveries/${id}/items/F-3`, { data: { text: "Support answers within an hour." } });
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await item("F-3").getByText("Support answers within an hour.").waitFor();
  });

  it("says so when it does not exist", async () => {
    expectRefusal(faults, 404);
    await page.goto("/discovery/6f1c2a34-0000-4000-8000-000000000001");
    await page.getByText("Board not found. It may have been deleted.").waitFor();
    await press("All boards").click();
    await press("New board").waitFor();
  });

  it("lays out only the visible of 500 items, and marks only related ones", async () => {
    const list = (letter, name, related, before) => Array.from({ length: 100 }, (_, i) => ({ [`${name}_id`]: `${letter}-${i + 1}`, text: `${name} ${i + 1}: ${"words of it ".repeat(8 + (i % 9))}`, ...(name === "output" && { type: "report" }), ...(related && { [related]: [`${before}-${i + 1}`, `${before}-${((i * 7) % 100) + 1}`] }) }));
    const id = await makeBoard({ title: "Large", inputs: list("I", "input"), facts: list("F", "fact", "related_inputs", "I"), insights: list("N", "insight", "related_facts", "F"), recommendations: list("R", "recommendation", "related_insights", "N"), outputs: list("O", "output", "related_recommendations", "R") });
    await page.goto(`/discovery/${id}`);
    await many(page.locator("[data-item]"), 500);
    const drawn = () => page.evaluate(() => [...document.querySelectorAll("[data-item]")].filter((card) => card.checkVisibility({ contentVisibilityAuto: true })).length);
    assert.ok((await drawn()) < 150, `${await drawn()} items are laid out`);
    await page.evaluate(() => {
      window.marked = new Set();
      new MutationObserver((changes) => changes.forEach(({ target }) => window.marked.add(target.dataset.item))).observe(document.querySelector("[data-board]"), { subtree: true, attributeFilter: ["data-role"] });
    });
    for (const id of ["I-1", "I-2", "O-1", "O-2", "N-2"]) await item(id).hover();
    const marked = await page.evaluate(() => window.marked.size);
    assert.ok(marked > 0 && marked < 250, `${marked} items changed while the pointer was on five`);
    await page.getByRole("searchbox", { name: "Search this board" }).pressSequentially("fact 77");
    await item("F-77").waitFor();
  });
});

describe("the chat on a board", () => {
  eachANewPerson();

  it("FS-ChatWidgetHiddenWithoutDiscovery: it is not shown without a board", async () => {
    await page.getByRole("heading", { name: "Boards" }).waitFor();
    assert.equal(await chatButton().count(), 0);
    await page.goto("/");
    await composer(page).waitFor();
    assert.equal(await chatButton().count(), 0);
  });

  it("FS-ChatWidgetDraggable: by its header, by keyboard, never out of the viewport; it is resized, and stays so", async () => {
    await openChat();
    const header = page.locator("[data-chat-header]");
    const drag = async (from, dx, dy) => {
      const at = await box(from);
      await page.mouse.move(at.x + at.width / 2, at.y + at.height / 2);
      await page.mouse.down();
      await page.mouse.move(at.x + at.width / 2 + dx / 2, at.y + at.height / 2 + dy / 2);
      await page.mouse.move(at.x + at.width / 2 + dx, at.y + at.height / 2 + dy);
      await page.mouse.up();
    };
    const first = await box(panel());
    await drag(header, -300, -100);
    const second = await box(panel());
    assert.deepEqual([second.x - first.x, second.y - first.y], [-300, -100]);
    await drag(header, -3000, 3000);
    const third = await box(panel());
    assert.deepEqual([third.x, 800 - third.y - third.height], [8, 8]);
    await press("Move the chat. Use the arrow keys.").press("ArrowRight");
    await press("Move the chat. Use the arrow keys.").press("Shift+ArrowUp");
    const fourth = await box(panel());
    assert.deepEqual([fourth.x - third.x, fourth.y - third.y], [16, -64]);
    await press("Resize the chat. Use the arrow keys.").press("Shift+ArrowUp");
    const fifth = await box(panel());
    assert.deepEqual([fifth.height - fourth.height, fifth.y - fourth.y], [64, -64]);
    await page.reload();
    await chatButton().click();
    assert.deepEqual(await box(panel()), fifth);
    await page.setViewportSize({ width: 700, height: 500 });
    await assertSoon(async () => {
      const now = await box(panel());
      return now.x >= 0 && now.y >= 0 && now.x + now.width <= 700 && now.y + now.height <= 500;
    }, "it is in a smaller viewport");
  });

  it("FS-ChatAtMentionAutocomplete: an @ offers items by column, with ids and the first 50 characters, and documents", async () => {
    await addDocument(page, "Leave policy", "Thirty days.");
    await openChat();
    await composer(page).pressSequentially("@");
    const groups = page.getByRole("listbox").getByRole("group");
    await assertSoon(async () => (await groups.count()) >= 6, "six groups");
    assert.deepEqual((await groups.evaluateAll((all) => all.map((g) => g.getAttribute("aria-label")))), ["Inputs", "Facts", "Insights", "Recommendations", "Outputs", "Documents"]);
    await page.getByRole("option", { name: "F-2 — Nine of twelve customers who left never sent an i…" }).waitFor();
    assert.deepEqual((await axe(page)).filter((v) => !v.includes("partially obscured")), []); // the open list covers other elements on purpose
    await shot(page, "10-discovery-mentions");
    await composer(page).pressSequentially("F-");
    await many(page.getByRole("listbox").getByRole("option"), 3);
    await composer(page).press("Escape");
    await many(page.getByRole("listbox"), 0);
    assert.ok(await panel().isVisible(), "Escape closes only the list");
  });

  it("FS-ChatAtMentionContext: mentioned items are sent with the message", async () => {
    await openChat();
    const sent = page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/ui/chat"));
    await composer(page).pressSequentially("Why is @F-2");
    await page.getByRole("option", { name: /^F-2/ }).waitFor();
    await composer(page).press("Enter");
    await composer(page).press("Enter");
    assert.deepEqual((await sent).postDataJSON().references, ["F-2"]);
    await yours(page).locator("[data-reference=F-2]").waitFor();
    await told("I have read the board.").waitFor();
  });

  it("FS-ChatClickItemToReference: Ctrl+click, Ctrl+Enter and the menu of an item mention it, and one can go on typing", async () => {
    await openChat();
    await item("F-1").click({ modifiers: ["ControlOrMeta"] });
    await composer(page).locator(".mention", { hasText: "@F-1" }).waitFor();
    assert.ok(await composer(page).evaluate((el) => el === document.activeElement));
    await page.keyboard.type("and ");
    await item("I-1").focus();
    await page.keyboard.press("ControlOrMeta+Enter");
    await menu("F-2", "Mention in chat");
    await composer(page).locator(".mention", { hasText: "@F-2" }).waitFor();
    assert.equal((await composer(page).innerText()).trim(), "@F-1 and @I-1 @F-2");
    await composer(page).press("Escape");
    await panel().waitFor({ state: "detached" });
    await item("I-2").click({ modifiers: ["ControlOrMeta"] });
    await composer(page).locator(".mention", { hasText: "@I-2" }).waitFor();
  });

  it("FS-ChatAtMentionInResponse: ids of an answer lead to their items, also hidden ones", async () => {
    await openChat();
    script.set("read", { say: ["See [F-3] and N-1.\n\n", "[F-2]: it stands there. There is no F-99. `F-1` is code."] });
    await say("What did you read?");
    await panel().locator("[data-reference=N-1]").waitFor();
    await assertSoon(async () => (await panel().locator("article [data-reference]").evaluateAll((all) => all.map((el) => el.dataset.reference).join())) === "F-3,N-1,F-2", "only existing items become chips");
    await told("There is no F-99.").waitFor();
    await page.getByRole("searchbox", { name: "Search this board" }).fill("nothing like it");
    await many(page.locator("[data-item]"), 0);
    await panel().getByRole("button", { name: "Show F-3 on the board" }).click();
    await assertSoon(() => item("F-3").evaluate((el) => el === document.activeElement), "the item has the focus");
    await page.locator("[data-flash]").and(item("F-3")).waitFor();
  });

  it("FS-AskQuestionAboutDiscovery: the answer knows every item of the board, and names them", async () => {
    await openChat();
    script.set("unpaid", { say: ["Because [F-2] says so."] });
    await say("Why are invoices unpaid?");
    await panel().locator("article [data-reference=F-2]").waitFor();
    const [system] = asked[0].messages;
    for (const part of [CHURN.goal, ...[...CHURN.inputs, ...CHURN.facts, ...CHURN.insights, ...CHURN.recommendations, ...CHURN.outputs].map((i) => i.text)]) assert.ok(system.content.includes(part), part);
  });

  it("FS-SendMessageDisabledDuringResponse: nothing can be typed while an answer comes, and it can be stopped", async () => {
    await openChat();
    const hold = gate();
    script.set("long", { say: ["A long answer"], hold });
    await say("A long one");
    await told("A long answer").waitFor();
    assert.equal(await composer(page).getAttribute("contenteditable"), "false");
    assert.equal(await composer(page).getAttribute("aria-disabled"), "true");
    assert.equal(await page.getByRole("button", { name: /^Send$/ }).count(), 0);
    await stop(page).click();
    await interrupted(page).waitFor();
    await told("A long answer").waitFor();
    await assertSoon(async () => (await composer(page).getAttribute("contenteditable")) === "true", "the message box accepts text again");
    await assertSoon(() => composer(page).evaluate((el) => el === document.activeElement), "the caret is back");
    hold.open();
  });

  it("FS-AskForSummary: it is offered at the start, and answered from the board", async () => {
    await openChat();
    script.set("Summarize", { say: ["**In short**: see [O-1]."] });
    await press("Summarize this discovery").click();
    await panel().locator("article strong", { hasText: "In short" }).waitFor();
    await panel().locator("article [data-reference=O-1]").waitFor();
  });

  it("FS-AskForGapAnalysis: it is offered at the start, and what is missing leads to its items", async () => {
    await openChat();
    script.set("missing", { say: ["[F-3] has no source."] });
    await press("What is missing on this board?").click();
    await panel().locator("article [data-reference=F-3]").click();
    await assertSoon(() => item("F-3").evaluate((el) => el === document.activeElement), "the item has the focus");
  });

  it("FS-ChatProactiveSuggestions: an answer about gaps brings cards that can be confirmed", async () => {
    const id = await openChat();
    script.set("missing", { say: ["Nothing says what it costs. I suggest:"], calls: [{ name: "add_item", args: { entity_type: "insight", text: "Quick support does not keep them.", related_ids: ["F-3"] } }] });
    await press("What is missing on this board?").click();
    await inCard("Add an insight", "Confirm").click();
    await item("N-2").waitFor();
    assert.deepEqual((await boardOf(id)).insights[1].related_facts, ["F-3"]);
  });

  it("FS-ChatSuggestMissingConnections: it is offered at the start, and names the items of both ends", async () => {
    await openChat();
    script.set("connected", { say: ["[F-3] could rest on [I-2]."] });
    await press("Which items should be connected?").click();
    for (const id of ["F-3", "I-2"]) await panel().locator(`article [data-reference=${id}]`).waitFor();
  });

  it("FS-ChatAddItemEdit: text and relations can be changed before", async () => {
    const id = await openChat();
    await propose(addFact);
    await inCard("Add a fact", "Edit").click();
    await card("Add a fact").getByLabel("Text", { exact: true }).fill("A third of all invoices are late.");
    await card("Add a fact").getByRole("checkbox", { name: /^I-1/ }).check();
    await shot(page, "10-discovery-add-edit");
    assert.deepEqual(await axe(page), []);
    await inCard("Add a fact", "Confirm").click();
    await item("F-4").getByText("A third of all invoices are late.").waitFor();
    assert.deepEqual((await boardOf(id)).facts[3].related_inputs, ["I-2", "I-1"]);
  });

  it("FS-ChatAddItemCancel: a cancelled card stays as that, also after a reload", async () => {
    const id = await openChat();
    await propose(addFact);
    await inCard("Add a fact", "Cancel").click();
    await state("Add a fact", "cancelled");
    assert.equal(await inCard("Add a fact", "Confirm").count(), 0);
    await page.reload();
    await chatButton().click();
    await state("Add a fact", "cancelled");
    assert.equal((await boardOf(id)).facts.length, 3);
  });

  it("several cards are confirmed together", async () => {
    const id = await openChat();
    await propose(addFact, { name: "add_item", args: { entity_type: "insight", text: "Invoices are the problem.", related_ids: ["F-2"] } }, editFact);
    await press("Confirm all 3").waitFor();
    await shot(page, "10-discovery-several");
    await press("Confirm all 3").click();
    for (const name of ["Add a fact", "Add an insight", "Change F-3"]) await state(name, "applied");
    const { facts, insights } = await boardOf(id);
    assert.deepEqual([facts.length, insights.length, facts[2].text], [4, 2, "Support answers within one day."]);
  });

  it("FS-ChatDeleteItem: the card shows the item and how many are downstream, and the board waits", async () => {
    const id = await openChat();
    await propose(deleteFact);
    await card("Delete F-1").getByText(CHURN.facts[0].text).waitFor();
    await card("Delete F-1").getByText("3 items downstream will be marked out of date.").waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-delete");
    assert.equal((await boardOf(id)).facts.length, 3);
  });

  it("FS-ChatDeleteItemCancel: nothing is deleted", async () => {
    const id = await openChat();
    await propose(deleteFact);
    await inCard("Delete F-1", "Cancel").click();
    await state("Delete F-1", "cancelled");
    assert.equal((await boardOf(id)).facts.length, 3);
  });

  it("FS-ChatEditItem: the card shows the difference, and the board waits", async () => {
    const id = await openChat();
    await propose(editFact);
    assert.equal(await card("Change F-3").locator("del").textContent(), "two days");
    assert.equal(await card("Change F-3").locator("ins").textContent(), "one day");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-change");
    assert.equal((await boardOf(id)).facts[2].text, CHURN.facts[2].text);
  });

  it("FS-ChatEditItemModify: the new text can be changed before", async () => {
    await openChat();
    await propose(editFact);
    await inCard("Change F-3", "Edit").click();
    await card("Change F-3").getByLabel("After", { exact: true }).fill("Support answers within one hour.");
    await inCard("Change F-3", "Apply").click();
    await item("F-3").getByText("Support answers within one hour.").waitFor();
  });

  it("FS-ChatEditItemCancel: the text stays", async () => {
    const id = await openChat();
    await propose(editFact);
    await inCard("Change F-3", "Cancel").click();
    await state("Change F-3", "cancelled");
    assert.equal((await boardOf(id)).facts[2].text, CHURN.facts[2].text);
  });

  it("an item that has changed since is not overwritten: the card shows both texts", async () => {
    expectRefusal(faults, 409);
    const id = await openChat();
    await propose(editFact);
    await inCard("Change F-3", "Apply").waitFor();
    const address = `/api/discoveries/${id}`;
    const before = await page.request.get(address);
    await page.route(`**${address}`, (route) => route.fulfill({ response: before })); // so that the page does not see the change
    const read = page.waitForResponse(`**${address}`);
    await page.evaluate(() => window.dispatchEvent(new Event("focus"))); // the page then ignores the response to an older request
    await read;
    await page.request.patch(`${address}/items/F-3`, { data: { text: "Support answers at once." } });
    const refused = page.waitForResponse((res) => res.status() === 409);
    await inCard("Change F-3", "Apply").click();
    await refused;
    await page.unroute(`**${address}`);
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
    await card("Change F-3").getByText("The item has changed since this was proposed:").waitFor();
    await card("Change F-3").getByText("Support answers at once.", { exact: true }).waitFor();
    assert.equal((await boardOf(id)).facts[2].text, "Support answers at once.");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-changed");
    await inCard("Change F-3", "Apply anyway").click();
    await item("F-3").getByText("Support answers within one day.").waitFor();
  });

  it("FS-ChatActionErrorRollback: a failure leaves the board as it was, the card says why and can be tried again", async () => {
    expectRefusal(faults, 409);
    expectRefusal(faults, 503);
    const id = await openChat();
    await propose({ name: "add_item", args: { entity_type: "fact", text: "Support answers within two days!" } });
    await inCard("Add a fact", "Confirm").click();
    await state("Add a fact", "error");
    await card("Add a fact").getByText("The board already has something very similar:").waitFor();
    await card("Add a fact").locator("[data-reference=F-3]").waitFor();
    assert.equal((await boardOf(id)).facts.length, 3);
    await shot(page, "10-discovery-error");
    await page.reload();
    await chatButton().click();
    await state("Add a fact", "error");
    await card("Add a fact").getByText("The board already has this, or something very similar.").waitFor();
    await page.route("**/actions/*", (r) => r.fulfill({ status: 503, body: "" }));
    await inCard("Add a fact", "Confirm").click();
    await card("Add a fact").getByText("The server isn't ready.").waitFor();
    await page.unroute("**/actions/*");
    await inCard("Add a fact", "Confirm").click();
    await inCard("Add a fact", "Add anyway").click();
    await state("Add a fact", "applied");
    assert.equal((await boardOf(id)).facts.length, 4);
  });

  it("two tabs decide one card once", async () => {
    expectRefusal(faults, 409);
    const id = await openChat();
    await propose(addFact);
    await inCard("Add a fact", "Confirm").waitFor();
    const second = await context.newPage();
    await second.goto(`/discovery/${id}`);
    await press("Open chat", second).click();
    const there = second.getByRole("group", { name: "Add a fact", exact: true });
    await there.getByRole("button", { name: "Cancel" }).click();
    await second.locator("[data-proposal][data-state=cancelled]").waitFor();
    await inCard("Add a fact", "Confirm").click();
    await state("Add a fact", "cancelled");
    assert.equal((await boardOf(id)).facts.length, 3);
  });

  it("FS-ChatHistorySavedWithDiscovery: it is in the exported file, and comes with it", async () => {
    const id = await openChat();
    await propose(addFact);
    await inCard("Add a fact", "Confirm").click();
    await state("Add a fact", "applied");
    await assertSoon(async () => (await boardOf(id)).chat_history?.length === 2, "it is saved with the board");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export" }).click();
    const file = await (await import("node:fs/promises")).readFile(await (await download).path(), "utf8");
    assert.deepEqual(JSON.parse(file).chat_history.map((m) => [m.role, m.tool_calls?.map((c) => [c.tool, c.status])]), [["user", undefined], ["assistant", [["add_item", "applied"]]]]);
    await press("All boards").click();
    await page.locator("input[type=file]").first().setInputFiles({ name: "again.json", mimeType: "application/json", buffer: Buffer.from(file) });
    await page.waitForURL((url) => /^\/discovery\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(id));
    await chatButton().click();
    await page.getByRole("region", { name: "Imported chat" }).getByText("Do it, please").waitFor();
  });

  it("FS-ChatHistoryClearedOnNewDiscovery: a new board begins without a chat", async () => {
    const id = await openChat();
    script.set("remember", { say: ["I will remember."] });
    await say("Please remember this");
    await told("I will remember.").waitFor();
    await press("All boards").click();
    await press("New board").click();
    await field("Title").fill("Another");
    await press("Save").click();
    await page.waitForURL((url) => /^\/discovery\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(id));
    await chatButton().click();
    await press("Summarize this discovery").waitFor();
    assert.equal(await told("I will remember.").count(), 0);
  });

  it("FS-ChatStreamingInterruption: after a cut connection the answer goes on where it was; what a broken one had is kept and marked", async () => {
    const front = await startFront(stack.url);
    try {
      await arrive(desktop, front.url);
      expectCuts(faults);
      await page.goto("/discovery");
      await openChat();
      const hold = gate();
      script.set("stream", { say: ["The first half, "], hold, more: ["the second half."] });
      await say("Let it stream");
      await told("The first half,").waitFor();
      front.cut();
      hold.open();
      await assertSoon(() => told("The first half,").isVisible(), "it stays");
      front.restore();
      await page.getByRole("article", { name: "Palaver", exact: true }).getByText("The first half, the second half.", { exact: true }).waitFor();

      const never = gate();
      script.set("endless", { say: ["This much came"], hold: never });
      await say("An endless one");
      await told("This much came").waitFor();
      await stop(page).click();
      await interrupted(page).waitFor();
      await page.reload();
      await chatButton().click();
      await told("This much came").waitFor();
      await interrupted(page).waitFor();
      never.open();
    } finally {
      await front.stop();
    }
  });

  it("facts of a document are confirmed one by one, and keep their passage when they are changed", async () => {
    const doc = await addDocument(page, "Retention policy", "Invoices are kept for ten years. Records are deleted within 30 days.");
    const id = await openChat();
    await propose({ name: "add_item", args: { entity_type: "fact", text: "Ten years.", document: "Retention policy", quote: "kept for ten years" } }, { name: "add_item", args: { entity_type: "insight", text: "Nobody knows." } });
    await inCard("Add a fact", "Edit").click();
    await card("Add a fact").getByLabel("Text", { exact: true }).fill("Invoices stay ten years.");
    await inCard("Add a fact", "Confirm").click();
    await item("F-4").getByText("Invoices stay ten years.").waitFor();
    const { facts, insights } = await boardOf(id);
    assert.deepEqual([facts[3].citation.document_id, facts[3].citation.quote, insights.length], [doc, "kept for ten years", 1]);
  });

  it("is dark where the system is", async () => {
    await arrive(dark);
    await page.goto("/discovery");
    await openChat();
    await propose(addFact, editFact);
    await state("Change F-3", "pending");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-dark");
  });
});

describe("on a phone", () => {
  eachANewPerson(phone);

  it("the board is built by touch, and the chat is a sheet of the full height that an id leads out of", async () => {
    await openBoard();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the page");
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-phone");
    await press("Options for I-1").tap();
    await page.getByRole("menuitem", { name: "Edit" }).tap();
    await field("Title").fill("Report of June");
    await press("Save").tap();
    await item("I-1").getByText("Report of June").waitFor();
    await chatButton().tap();
    const sheet = await box(panel());
    await assertSoon(async () => (await box(panel())).x === 0, "the sheet is there");
    assert.deepEqual([sheet.width, sheet.height], [390, 844]);
    script.set("weak", { say: ["[O-1] is weak."] });
    await composer(page).fill("What is weak?");
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await panel().locator("[data-reference=O-1]").waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "10-discovery-phone-chat");
    await panel().locator("[data-reference=O-1]").tap();
    await panel().waitFor({ state: "detached" });
    await assertSoon(() => item("O-1").evaluate((el) => {
      const { left, right } = el.getBoundingClientRect();
      return left >= 0 && right <= innerWidth;
    }), "the item is in view");
  });
});
