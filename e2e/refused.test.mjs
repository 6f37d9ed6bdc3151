// What the server refuses is not lost: its words go back to where they were
// written, with a reason that helps.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, ask, assist, composer, expectRefusal, mention, shot } from "./browser.mjs";
import { arrive, faults, leaveNoFaults, page, useStack } from "./suite.mjs";
import { addDocument, assertSoon, conversation, history, many, startWithTools, yours } from "./thread.mjs";

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

/** The next message or answer is refused. */
async function refuseNext(error, status = 400) {
  expectRefusal(faults, status);
  await page.route("**/api/ui/chat", (route) => route.fulfill({ status, json: { error } }), { times: 1 });
}

/** Writes what mentions a document that is deleted before it is sent. */
async function askOfWhatIsGone() {
  const id = await addDocument(page, NOTES, "The keeper winds the clock at seven.");
  await composer(page).pressSequentially("What is in ");
  await mention(page, NOTES);
  await page.request.delete(`/api/documents/${id}`);
  expectRefusal(faults, 400);
  await composer(page).press("Enter");
  await problem("A document you mentioned no longer exists.").waitFor();
}

describe("what is dismissed", () => {
  it("is a message again that is being written, with what it mentions", async () => {
    await ask(page, QUESTION);
    await answer(page, 1);
    await askOfWhatIsGone();
    await shot(page, "67-refused");
    await change().click();
    await mentioned().getByText(NOTES).waitFor();
    await many(yours(page), 1);
    await composer(page).and(page.locator(":focus")).waitFor();
  });

  it("is on the welcome page again when it was to begin a conversation", async () => {
    await askOfWhatIsGone();
    await dismiss().click();
    await page.waitForURL((url) => url.pathname === "/");
    await mentioned().getByText(NOTES).waitFor();
    await page.reload();
    await mentioned().getByText(NOTES).waitFor();
    await many(yours(page), 0);
  });

  it("goes before what has been written since", async () => {
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

describe("another answer that is refused", () => {
  it("leaves its message and its notice, however often others are watched for", async () => {
    for (const n of [1, 2]) {
      await ask(page, QUESTION);
      await answer(page, n);
    }
    await refuseNext({ code: "rate_limited", message: "That was too fast." }, 429);
    await page.getByRole("button", { name: "Regenerate" }).last().click();
    await problem("Too many requests.").waitFor();
    // A page that took its own request for something that had happened elsewhere read all anew, without end.
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

describe("an answer to a question that does not fit", () => {
  const misfit = { code: "invalid_resume_value", message: "The answer does not fit the question.", details: [{ field: "resume_value", problem: "must be shorter" }] };

  it("is still in the composer when it was words", async () => {
    await ask(page, "Audit this email: we work from home every day");
    await assist(page).waitFor();
    await refuseNext(misfit);
    await ask(page, "We work from home on five days.");
    await problem("This reply doesn't fit the question. Try another one. (resume_value must be shorter)").waitFor();
    await composer(page).getByText("We work from home on five days.").waitFor();
    const { interrupt_id } = (await history(page)).pending_interrupt;
    await composer(page).press("Enter");
    await assertSoon(async () => (await history(page)).pending_interrupt?.interrupt_id !== interrupt_id, "the question is answered");
  });

  it("still has the arguments that a tool was to get", async () => {
    await startWithTools(page, "draw a cat in a hat");
    const args = assist(page).getByRole("textbox", { name: "Details" });
    await args.fill('{"prompt":"a walrus on ice"}');
    await refuseNext(misfit);
    await assist(page).getByRole("button", { name: "Approve" }).click();
    await problem("This reply doesn't fit the question.").waitFor();
    assert.equal(await args.inputValue(), '{"prompt":"a walrus on ice"}');
    await assist(page).getByRole("button", { name: "Approve" }).click();
    await conversation(page).getByText("Approved with changes").waitFor();
  });
});
