// A message that the server rejects is not lost: its text goes back to where it was
// written, with a helpful reason.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, ask, assist, composer, expectRefusal, mention, shot } from "../browser.mjs";
import { arrive, faults, leaveNoFaults, page, useStack } from "../suite.mjs";
import { addDocument, assertSoon, conversation, history, many, startWithTools, yours } from "../thread.mjs";

useStack();
beforeEach(async () => {
  await arrive();
  await page.goto("/");
});
leaveNoFaults();

const NOTES = "Lighthouse notes";
const QUESTION = "What does the circular say about the liquidity coverage ratio?";
const problem = (words) => page.getByRole("alert").filter({ hasText: words });
const dismiss = () => page.getByRole("button", { name: "Dismiss", exact: true });
const change = () => page.getByText("Edit message", { exact: true });
const mentioned = () => composer(page).locator(".mention");

/** Rejects the next message or answer. */
async function refuseNext(error, status = 400) {
  expectRefusal(faults, status);
  await page.route("**/api/ui/chat", (route) => route.fulfill({ status, json: { error } }), { times: 1 });
}

/** Writes a message with a mention of a document that is deleted before sending. */
async function askAboutDeletedDocument() {
  const id = await addDocument(page, NOTES, "The keeper winds the clock at seven.");
  await composer(page).pressSequentially("What is in ");
  await mention(page, NOTES);
  await page.request.delete(`/api/documents/${id}`);
  expectRefusal(faults, 400);
  await composer(page).press("Enter");
  await problem("A document you mentioned no longer exists.").waitFor();
}

describe("a dismissed error", () => {
  it("returns the message to the composer, with its mentions", async () => {
    await ask(page, QUESTION);
    await answer(page, 1);
    await askAboutDeletedDocument();
    await shot(page, "67-refused");
    await change().click();
    await mentioned().getByText(NOTES).waitFor();
    await many(yours(page), 1);
    await composer(page).and(page.locator(":focus")).waitFor();
  });

  it("returns a first message to the welcome page", async () => {
    await askAboutDeletedDocument();
    await dismiss().click();
    await page.waitForURL((url) => url.pathname === "/");
    await mentioned().getByText(NOTES).waitFor();
    await page.reload();
    await mentioned().getByText(NOTES).waitFor();
    await many(yours(page), 0);
  });

  it("puts the message before text written since", async () => {
    await ask(page, QUESTION);
    await answer(page, 1);
    await refuseNext({ code: "validation_failed", message: "This cannot be used." });
    await ask(page, "First words");
    await problem("This cannot be used.").waitFor();
    await composer(page).pressSequentially("More words");
    await dismiss().click();
    await composer(page).getByText("First words").waitFor();
    assert.deepEqual(await composer(page).locator("p").allTextContents(), ["First words", "More words"]);
  });
});

describe("a regenerate that is rejected", () => {
  it("keeps its message and its notice, however often the page polls", async () => {
    for (const n of [1, 2]) {
      await ask(page, QUESTION);
      await answer(page, n);
    }
    await refuseNext({ code: "rate_limited", message: "That was too fast.", message_code: "rate.messages" }, 429);
    await page.getByRole("button", { name: "Regenerate" }).last().click();
    await problem("You're sending messages too fast.").waitFor();
    // The page once took its own request for an event of another tab and reloaded in an endless loop.
    const asked = [];
    page.on("request", (r) => asked.push(r.url()));
    await page.evaluate(async () => {
      document.dispatchEvent(new Event("visibilitychange"));
      await fetch("/api/config");
    });
    assert.deepEqual(asked.filter((url) => /\/api\/chat\/(stream|history)\//.test(url)), []);
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByRole("group", { name: "Versions" }).waitFor();
    await answer(page, 2);
  });
});

describe("an invalid answer to a question", () => {
  const misfit = { code: "invalid_resume_value", message: "The answer does not fit the question.", message_code: "question.wrong_answer", details: [{ field: "resume.resume_value", problem: "must be shorter" }] };

  it("stays in the composer if it was text", async () => {
    await ask(page, "Audit this email");
    await assist(page).waitFor();
    await refuseNext(misfit);
    await ask(page, "We work from home on five days.");
    await problem("This reply doesn't fit the question. Try another one. (resume.resume_value must be shorter)").waitFor();
    await composer(page).getByText("We work from home on five days.").waitFor();
    const { interrupt_id } = (await history(page)).pending_interrupt;
    await composer(page).press("Enter");
    await assertSoon(async () => (await history(page)).pending_interrupt?.interrupt_id !== interrupt_id, "the question is answered");
  });

  it("keeps the edited arguments of a tool", async () => {
    await startWithTools(page, "draw a cat in a hat");
    const args = assist(page).getByRole("textbox", { name: "Prompt" });
    await args.fill("a walrus on ice");
    await refuseNext(misfit);
    await assist(page).getByRole("button", { name: "Approve" }).click();
    await problem("This reply doesn't fit the question.").waitFor();
    assert.equal(await args.inputValue(), "a walrus on ice");
    await assist(page).getByRole("button", { name: "Approve" }).click();
    await conversation(page).getByText("Approved with changes").waitFor();
  });
});
