// Tool approvals: several calls at once, remembered decisions, tool calls between
// streamed texts, and cost.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, shot } from "./browser.mjs";
import { arrive, leaveNoFaults, model, page, useSlowModel, useStack } from "./suite.mjs";
import { addDocument, assertSoon, conversation, history, many, startWithTools, writing } from "./thread.mjs";

leaveNoFaults();

const choice = (name) => assist(page).getByRole("button", { name, exact: true });
const gone = () => assist(page).waitFor({ state: "detached" });
const card = (name, n = 0) => page.getByRole("group", { name: `Tool ${name}` }).nth(n);
const standsAs = (state, of) => of.and(page.locator(`[data-tool-state=${state}]`)).waitFor();
const pictures = () => conversation(page).locator("img[src^='/api/attachments/']");

/** Opens a section of a tool's card (Details, Result or Reason) and returns its text. */
async function detail(of, name) {
  const part = of.getByRole("group", { name });
  if (!(await part.isVisible())) await of.getByRole("button").press("Enter"); // by keyboard: a growing page could move the button between mouse down and up
  await part.waitFor();
  return part.textContent();
}

describe("approval", () => {
  useStack();

  beforeEach(async () => {
    await arrive();
    await page.goto("/");
  });

  it("of several calls is decided for each call, and each card shows its result", async () => {
    await startWithTools(page, "draw a cat and draw a dog");
    const asked = assist(page).getByRole("group", { name: "Generate image" });
    await many(asked, 2);
    await many(choice("Approve"), 0);
    await asked.nth(0).getByRole("radio", { name: "Reject" }).check();
    await asked.nth(0).getByRole("textbox", { name: /^Reason/ }).fill("no cats please");
    await choice("Send decisions").click();
    await asked.nth(1).getByText("Choose Approve or Reject.").waitFor();
    await asked.nth(1).getByRole("radio", { name: "Approve" }).check();
    await asked.nth(1).getByRole("textbox", { name: "Prompt" }).fill("a big dog");
    await shot(page, "65-two-calls");
    assert.deepEqual(await axe(page), []);
    await choice("Send decisions").click();
    await gone();
    const shown = async () => {
      await standsAs("denied", card("generate_image", 0));
      await standsAs("done", card("generate_image", 1));
      await many(pictures(), 1);
      await conversation(page).getByText("Rejected: no cats please, Approved with changes").waitFor();
      assert.match(await detail(card("generate_image", 0), "Reason"), /no cats please/);
      assert.match(await detail(card("generate_image", 1), "Details"), /a big dog/);
      assert.match(await detail(card("generate_image", 1), "Result"), /big dog/);
    };
    await answer(page, 1);
    await shown();
    await shot(page, "66-two-results");
    await page.reload();
    await answer(page, 1);
    await shown();
  });

  it("is not asked for again in this conversation after Remember, but in another", async () => {
    await startWithTools(page, "draw a cat in a hat");
    await assist(page).getByRole("checkbox", { name: "Always allow in this chat" }).check();
    await choice("Approve").click();
    await gone();
    await many(pictures(), 1);
    await answer(page, 1);
    await ask(page, "draw a dog in a coat");
    await answer(page, 2);
    await many(pictures(), 2);
    const { messages } = await history(page);
    assert.equal(messages.filter((m) => m.role === "system").length, 1, "it asked once");
    await startWithTools(page, "draw a bird in a tree");
    await assist(page).getByText("Allow “Generate image”?").waitFor();
    await many(pictures(), 0);
  });
});

describe("with a model whose prices are known", () => {
  const PIECES = ["The clock ", "is wound ", "at seven ", "[1]."];
  const QUOTE = "The lighthouse keeper winds the clock every evening at seven.";

  useSlowModel(PIECES, 5, () => ({ CHAT_MODEL_NAME: "gpt-5-mini" }));

  beforeEach(async () => {
    Object.assign(model, { pieces: PIECES, hold: Infinity, waits: undefined, calls: [] });
    await arrive();
    await page.goto("/");
    await addDocument(page, "Lighthouse notes", `# Lighthouse notes\n\n${QUOTE}\n`);
  });

  it("an answer shows its tokens and cost, and its confidence in words", async () => {
    await ask(page, "When does the lighthouse keeper wind the clock?");
    const got = await answer(page, 1);
    // Three calls of 100 tokens in and 40 out, at 0.25 and 2 dollars a million.
    const said = async () => {
      await got.locator("summary[aria-label='About this answer']").click();
      const heard = await got.ariaSnapshot();
      assert.match(heard, /(High|Medium|Low) confidence/);
      assert.match(heard, /420 tokens · \$0\.00032/);
    };
    await said();
    const { metadata } = (await history(page)).messages.at(-1);
    assert.equal(metadata.tokens_used, 420);
    assert.ok(Math.abs(metadata.cost_usd - 0.000315) < 1e-9, `it cost ${metadata.cost_usd}`);
    await page.reload();
    await got.waitFor();
    await said();
  });

  it("the time, the steps and the cost are shown while it works, and a step opens to show what it did", async () => {
    model.calls = [[{ name: "find_in_document", args: { document: "Lighthouse notes", words: "winds" } }]];
    model.waits = (body) => body.messages.at(-1).role === "tool";
    await ask(page, "When does the lighthouse keeper wind the clock?");
    const soFar = page.getByRole("group", { name: "So far" });
    await soFar.filter({ hasText: /^\d+ s · 3 steps · \$0\.00032$/ }).waitFor(); // as in the test above
    const step = card("find_in_document");
    await standsAs("done", step);
    assert.match(await detail(step, "Details"), /winds/);
    assert.match(await detail(step, "Result"), /the clock every evening/);
    await shot(page, "67-so-far");
    model.waits = undefined;
    await answer(page, 1);
    await many(soFar, 0);
  });

  it("text streams with a tool's call and result in between", async () => {
    model.calls = [[{ name: "list_documents" }]];
    model.hold = 2;
    await page.getByRole("button", { name: "Mode: Document answers" }).click();
    await page.getByRole("menuitemradio", { name: "Assistant" }).click();
    await ask(page, "Which documents are there?");
    await writing(page).getByText("The clock is wound").waitFor();
    assert.doesNotMatch(await writing(page).textContent(), /at seven/);
    await many(card("list_documents"), 0);
    model.hold = Infinity;
    await standsAs("done", card("list_documents"));
    assert.match(await detail(card("list_documents"), "Result"), /Lighthouse notes/);
    const got = await answer(page, 1);
    assert.match(await got.textContent(), /at seven.*List documents.*at seven/s);
    await page.reload();
    await answer(page, 1);
    await standsAs("done", card("list_documents"));
    await assertSoon(async () => (await answers(page).first().textContent()).match(/at seven/g)?.length === 2, "both pieces of the answer are shown");
  });
});
