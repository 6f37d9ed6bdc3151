// The form of a tool approval, which is made from the schema of a tool of an MCP server.
import assert from "node:assert/strict";
import { after, beforeEach, describe, it } from "node:test";
import { answer, assist, axe, dark, expectRefusal, phone, shot } from "../browser.mjs";
import { mcpSettings, startMCPServer } from "../mcp-server.mjs";
import { arrive, faults, leaveNoFaults, model, page, stack, useSlowModel } from "../suite.mjs";
import { assertSoon, conversation, many, startWithTools } from "../thread.mjs";

leaveNoFaults();

const TICKET = {
  name: "create_ticket",
  description: "Opens a ticket in the tracker and tells its assignee by email.",
  annotations: { readOnlyHint: false, destructiveHint: false },
  inputSchema: {
    type: "object",
    properties: {
      title: { type: "string", maxLength: 60, description: "One line that says what is wrong" },
      details: { type: "string", maxLength: 4000 },
      due_date: { type: "string", format: "date" },
      priority: { $ref: "#/$defs/Priority" },
      copies: { type: "integer", minimum: 1, maximum: 5, description: "How many parts to order" },
      room: { type: "string", pattern: "^[A-Z]-[0-9]+$", description: "For example: B-12" },
      notify: { type: "boolean", default: true },
      labels: { type: "array", items: { type: "string" } },
    },
    required: ["title", "priority"],
    $defs: { Priority: { type: "string", enum: ["low", "normal", "urgent"] } },
  },
};
const DELETE = { name: "delete_ticket", description: "Deletes a ticket.", annotations: { destructiveHint: true }, inputSchema: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] } };
const ARGS = { title: "The pump leaks", details: "Water stands in the cellar.\nIt began on Monday.", priority: "normal", copies: 1, room: "B-12", labels: ["water"] };

let tracker;
useSlowModel(["Done."], 1, async () => {
  tracker = await startMCPServer([TICKET, DELETE], (name) => JSON.stringify({ ticket: "T-7", state: "open", by: name }));
  return mcpSettings("tracker", tracker);
});
after(() => tracker?.stop());

const field = (name) => assist(page).getByLabel(name, { exact: false });
const press = (name) => assist(page).getByRole("button", { name, exact: true }).click();

/** Makes the model request calls. It retries until the MCP server's tools are known, some time after the start. */
async function asks(calls, look) {
  await arrive(look);
  await page.goto("/");
  await assertSoon(async () => {
    tracker.calls.length = 0;
    model.calls = [calls];
    await startWithTools(page, "Please file a ticket");
    await page.getByText("Done.").first().waitFor(); // the model says it before the calls
    return (await page.locator("[data-question]").count()) > 0;
  }, "the tool is offered");
}

const create = (args) => [{ name: "tracker__create_ticket", args }];

describe("the form of an approval", () => {
  beforeEach(() => asks(create(ARGS)));

  it("has a field for each argument, and says what the tool does", async () => {
    await assist(page).getByText("Allow “Create ticket” (tracker)?").waitFor();
    await assist(page).getByRole("group", { name: "Create ticket (tracker)" }).waitFor();
    await assist(page).getByText(TICKET.description).waitFor();
    await assist(page).getByText("Can make changes", { exact: true }).waitFor();
    assert.equal(await field("Title").inputValue(), ARGS.title);
    assert.equal(await field("Details").inputValue(), ARGS.details);
    assert.equal(await field("Details").evaluate((el) => el.localName), "textarea");
    assert.equal(await field("Due date").getAttribute("type"), "date");
    assert.equal(await field("Priority").evaluate((el) => el.selectedOptions[0].text), "normal");
    assert.equal(await field("Copies").getAttribute("inputmode"), "numeric");
    assert.ok(await assist(page).getByRole("switch", { name: "Notify" }).isChecked());
    assert.equal(await field("Labels").inputValue(), '["water"]');
    await shot(page, "160-tool-form");
    const inView = (of) => of.evaluate((el) => el.getBoundingClientRect().top >= document.querySelector(".conversation").getBoundingClientRect().top);
    assert.ok(await inView(assist(page)), "a question that is longer than the view is shown from its start");
    await assist(page).getByRole("button", { name: "Approve" }).click({ trial: true });
    assert.deepEqual(await axe(page), []);
  });

  it("says what is wrong at the field, and sends what was changed", async () => {
    await field("Title").fill("");
    await field("Copies").fill("9");
    await field("Labels").fill("[");
    await press("Approve");
    await assist(page).getByText("This is required.").waitFor();
    await assist(page).getByText("Enter a number from 1 to 5.").waitFor();
    await assist(page).getByText("This isn't valid JSON yet.").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.labels?.[0]?.textContent), "Title", "the first wrong field has the focus");
    await shot(page, "161-tool-form-wrong");
    assert.deepEqual(await axe(page), []);
    assert.deepEqual(tracker.calls, []);
    await field("Title").fill("The pump drips");
    await field("Copies").fill("2");
    await field("Labels").fill('["water", "cellar"]');
    await field("Priority").selectOption("urgent");
    await field("Due date").fill("2031-05-06");
    await assist(page).getByText("Notify").click();
    await press("Approve");
    await answer(page, 1);
    assert.deepEqual(tracker.calls.map((c) => c.args), [{ ...ARGS, title: "The pump drips", copies: 2, labels: ["water", "cellar"], priority: "urgent", due_date: "2031-05-06", notify: false }]);
    await conversation(page).getByText("Approved with changes").waitFor();
    const card = page.getByRole("group", { name: "Tool tracker__create_ticket" });
    await card.getByText("Create ticket (tracker)").waitFor();
    await card.getByText("T-7").waitFor(); // the result
    await shot(page, "162-tool-result");
  });

  it("shows at the field an error that only the server finds", async () => {
    expectRefusal(faults, 400);
    await field("Room").fill("cellar");
    await press("Approve");
    await assist(page).getByText(/^The tool doesn't accept this: .*does not match pattern/).waitFor();
    assert.equal(await field("Room").getAttribute("aria-invalid"), "true");
    assert.equal(await field("Room").inputValue(), "cellar");
    await page.getByRole("alert").filter({ hasText: "Check the marked fields." }).waitFor();
    assert.deepEqual(tracker.calls, []);
    await field("Room").fill("C-1");
    await many(assist(page).getByText(/^The tool doesn't accept/), 0);
    await press("Approve");
    await answer(page, 1);
    assert.equal(tracker.calls[0].args.room, "C-1");
  });

  it("can be switched to JSON and back to a form", async () => {
    await field("Title").fill("The tap drips");
    await press("Show as JSON");
    const json = assist(page).getByRole("textbox", { name: "Details" });
    assert.equal(JSON.parse(await json.inputValue()).title, "The tap drips");
    await json.fill("{");
    await assist(page).getByText("This isn't valid JSON yet.").waitFor();
    await many(assist(page).getByRole("button", { name: "Show as form" }), 0);
    await json.fill('{"title":"The roof leaks","priority":"low"}');
    await press("Show as form");
    assert.equal(await field("Title").inputValue(), "The roof leaks");
    await press("Approve");
    await answer(page, 1);
    assert.deepEqual(tracker.calls[0].args, { title: "The roof leaks", priority: "low" });
  });
});

it("a tool that can delete says so, in dark colours as well", async () => {
  await asks([{ name: "tracker__delete_ticket", args: { number: 7 } }, ...create(ARGS)], dark);
  await assist(page).getByText("Can delete or overwrite, says tracker").waitFor();
  await assist(page).getByRole("group", { name: "Delete ticket (tracker)" }).waitFor();
  await shot(page, "163-tool-form-dark");
  assert.deepEqual(await axe(page), []);
});

it("fits a phone, also in German", async () => {
  await asks(create(ARGS), { ...phone, locale: "de-DE" });
  const form = page.locator("[data-question]");
  await form.getByText("Kann etwas ändern", { exact: true }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
  await shot(page, "164-tool-form-phone");
  assert.deepEqual(await axe(page), []);
});
