// A question is shown in the thread and never disables the composer. Buttons or typed
// words answer it, another message skips it, and Esc cancels it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, composer, dark, desktop, mention, phone, send, shot } from "./browser.mjs";
import { arrive, leaveNoFaults, page, useSecondStack, useStack } from "./suite.mjs";
import { addDocument, assertSoon, conversation, history, many, startWithTools, yours } from "./thread.mjs";

const BOTH = "Summarize and audit the remote work policy";
const P2025 = "Remote Work and Customer Data Policy 2025";
const NOWHERE = "zebra quasar xylophone?";

useStack();
leaveNoFaults();

const open = async (look = desktop) => {
  await arrive(look);
  await page.goto("/");
};
const choice = (name) => assist(page).getByRole("button", { name, exact: true });
const asks = (words) => assist(page).getByText(words).first().waitFor();
const dismissed = () => assist(page).waitFor({ state: "detached" });
const hint = () => page.locator("form[data-composer] [data-placeholder]").first().getAttribute("data-placeholder");
const pending = async () => (await history(page)).pending_interrupt;

describe("a question with options", () => {
  beforeEach(() => open());

  it("is shown in the thread below its message, is announced, and leaves the composer enabled with a hint", async () => {
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    await conversation(page).getByRole("region", { name: "Palaver needs your reply" }).waitFor();
    assert.equal(await assist(page).getByRole("alert").innerText(), "I can do one thing at a time. Which should come first?");
    assert.equal(await hint(), "Pick an option, or type something else");
    await composer(page).and(page.locator(":focus")).waitFor();
    await shot(page, "150-question-in-thread");
    assert.deepEqual(await axe(page), []);
  });

  it("is answered by an option's label or its number", async () => {
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    await ask(page, "check against rules");
    await asks("Which document has the rules to check against?");
    await many(yours(page), 1);
    await ask(page, "1");
    await asks("Paste the text to check");
    await many(yours(page), 1);
  });

  it("is skipped by other words, which are answered in its place, also after a reload", async () => {
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    await ask(page, "How many days a week may employees work from home?");
    await dismissed();
    await many(yours(page), 2);
    const skipped = answers(page).first().getByText("Skipped: you sent a new message");
    await skipped.waitFor();
    await assertSoon(async () => (await history(page)).active_turn === null || (await pending()) !== null, "the new message is answered");
    await shot(page, "151-question-skipped");
    await page.reload();
    await skipped.waitFor();
    await many(yours(page), 2);
    await many(answers(page).first().getByText("This answer was interrupted"), 0);
    const [, second] = (await history(page)).messages.filter((m) => m.role === "user");
    assert.match(second.content, /How many days/);
  });

  it("is cancelled with Esc wherever the focus is, but not from a search", async () => {
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.focus();
    await page.keyboard.press("Escape");
    await search.fill("x");
    await page.keyboard.press("Escape");
    assert.notEqual(await pending(), null);
    await page.getByRole("button", { name: /^Library/ }).focus();
    await page.keyboard.press("Escape");
    await dismissed();
    await assertSoon(async () => (await history(page)).active_turn === null, "the turn has ended");
    await answers(page).first().getByText("Canceled").waitFor();

    await ask(page, BOTH);
    await choice("Check against rules").focus();
    await page.keyboard.press("Escape");
    await dismissed();
  });

  it("does not take the focus from a person who types elsewhere", async () => {
    let release;
    const held = new Promise((resolve) => (release = resolve));
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    await page.route("**/api/ui/chat", async (route) => (await held, route.continue()));
    await choice("Check against rules").click();
    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.fill("wor");
    release();
    await asks("Which document has the rules to check against?");
    await page.keyboard.type("k");
    assert.equal(await search.inputValue(), "work");
  });
});

describe("little found, with a model", () => {
  const second = useSecondStack(["Ulaanbaatar ", "is the capital."], 1);

  beforeEach(async () => {
    await arrive(desktop, second.stack.url);
    await page.goto("/");
  });

  it("shows the closest passages above the options, and each opens in its document", async () => {
    await ask(page, "What is the capital of Mongolia?");
    await asks("I couldn't find this in your documents.");
    const closest = assist(page).getByRole("listitem");
    await closest.first().waitFor();
    assert.ok((await closest.count()) <= 3);
    await assist(page).getByText("The closest I found").waitFor();
    const passages = await closest.count();
    const buttons = (await choice("Answer anyway").boundingBox()).y;
    assert.ok((await closest.last().boundingBox()).y < buttons, "the options are below the passages");
    await shot(page, "152-closest");
    assert.deepEqual(await axe(page), []);
    await closest.first().getByRole("button").click();
    await page.locator("mark").first().waitFor();
    await page.keyboard.press("Escape");
    await choice("Cancel").click();
    await assist(page).waitFor({ state: "detached" });
    const kept = answers(page).last().getByText("The closest I found").locator("..").getByRole("listitem");
    await many(kept, passages);
    await page.reload();
    await many(kept, passages);
  });

  it("Choose documents opens the mention list and resumes nothing until it is sent", async () => {
    await ask(page, NOWHERE);
    await choice("Choose documents").click();
    await page.getByRole("listbox").waitFor();
    assert.equal((await history(page)).active_turn?.status, "interrupted");
    await page.keyboard.press("Backspace");
    await mention(page, P2025);
    await composer(page).press("Enter");
    await dismissed();
    await answers(page).or(assist(page)).first().waitFor();
  });

  it("Answer anyway answers", async () => {
    await ask(page, NOWHERE);
    await choice("Answer anyway").click();
    await (await answer(page, 1)).getByText("is the capital.").waitFor();
  });

  it("is answered with documents that are mentioned, and nothing else", async () => {
    await ask(page, NOWHERE);
    await choice("Choose documents").waitFor();
    const { interrupt_id } = await pending();
    await mention(page, P2025);
    await composer(page).press("Enter");
    await assertSoon(async () => (await pending())?.interrupt_id !== interrupt_id, "the question is answered");
    await many(yours(page), 1);
  });
});

describe("a comparison without documents", () => {
  it("offers candidates to check, and compares those that are chosen", async () => {
    await open();
    await ask(page, "compare");
    await asks("Which documents would you like to compare?");
    const candidate = (name) => assist(page).getByRole("checkbox", { name });
    const compare = assist(page).getByRole("button", { name: "Compare", exact: true });
    await candidate("Supplier Contract with Brightwater").check();
    assert.ok(await compare.isDisabled(), "one document cannot be compared");
    await candidate(P2025).check();
    assert.deepEqual(await axe(page), []);
    await shot(page, "158-candidates");
    await page.keyboard.press("Enter");
    await dismissed();
    await conversation(page).getByRole("table").first().waitFor();
    await answers(page).last().getByText(`${P2025}, Supplier Contract with Brightwater`).or(answers(page).last().getByText(`Supplier Contract with Brightwater, ${P2025}`)).waitFor();
  });
});

describe("a document without words, with a model", () => {
  const second = useSecondStack(["It is three months ", "[1]."], 1);
  const TITLE = "Garden lease";

  beforeEach(async () => {
    await arrive(desktop, second.stack.url);
    await page.goto("/");
    await addDocument(page, TITLE, "# Garden lease 2026\n\n## Notice period\n\nIt is three months.\n\n## Repairs\n\nThe tenant repairs the fence.\n");
    await page.reload();
    await mention(page, TITLE);
    await composer(page).press("Enter");
    await choice("Ask about it").waitFor();
    await choice("Summarize").waitFor();
    await many(assist(page).getByRole("button", { name: /^(\d )?Compare/ }), 0);
  });

  it("offers questions from its headings, and a click sends one", async () => {
    await many(assist(page).getByRole("list", { name: "Suggestions" }).getByRole("button"), 2);
    assert.deepEqual(await axe(page), []);
    await shot(page, "159-about-it");
    await choice("What about “Notice period”?").click();
    await dismissed();
    await yours(page).last().getByText("Notice period").waitFor();
    await answers(page).last().getByText("It is three months").waitFor();
  });

  it("Ask about it limits the chat to the document, and the message has the focus", async () => {
    await choice("Ask about it").click();
    await dismissed();
    await page.getByRole("button", { name: `Only: ${TITLE}` }).waitFor();
    await composer(page).and(page.locator(":focus")).waitFor();
  });
});

describe("a question that was left", () => {
  const chats = () => page.getByRole("navigation", { name: "Chats" });
  const row = (title) => chats().getByRole("listitem").filter({ hasText: title });

  it("leaves a dot, and is skipped by the next message elsewhere", async () => {
    await open();
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    const dot = row(BOTH).getByRole("img", { name: "Needs your reply" });
    await dot.waitFor();
    const title = await row(BOTH).getByRole("link").evaluate((a) => a.querySelector("[dir=auto]").getBoundingClientRect().width);
    assert.ok(title > 150, `the title has ${title} px`);
    await page.getByRole("button", { name: "New chat" }).first().click();
    await dot.waitFor();
    await shot(page, "156-question-left");
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await dot.waitFor({ state: "detached" });
    await row(BOTH).getByRole("link").click();
    await answers(page).getByText("Skipped: you sent a new message").waitFor();
    assert.equal(await pending(), null);
  });

  it("stays when it is an approval, which the list says in words", async () => {
    await open();
    await startWithTools(page, "draw a cat in a hat");
    await choice("Approve").waitFor();
    await row("draw a cat").getByText("Needs approval").waitFor();
    await page.getByRole("button", { name: "New chat" }).first().click();
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await row("draw a cat").getByText("Needs approval").waitFor();
    await shot(page, "157-approval-left");
  });
});

describe("an approval", () => {
  it("is decided by the exact words of a choice, and by no others", async () => {
    await open();
    await startWithTools(page, "draw a cat in a hat");
    await choice("Approve").waitFor();
    await ask(page, "reject");
    await dismissed();
    await page.getByText("Rejected").first().waitFor();
    await many(yours(page), 1);

    await page.goto("/");
    await startWithTools(page, "draw a cat in a hat");
    await choice("Approve").waitFor();
    await ask(page, "yes, but what will it cost?");
    await dismissed();
    await many(yours(page), 2);
    await page.getByRole("group", { name: "Tool generate_image" }).getByText("Not approved").waitFor();
  });

  it("leaves the conversation in view at 200 % zoom", async () => {
    await open({ ...desktop, viewport: { width: 640, height: 400 } });
    await startWithTools(page, "draw a cat in a hat");
    await choice("Approve").waitFor();
    assert.ok((await conversation(page).evaluate((el) => el.clientHeight)) > 150);
    await conversation(page).evaluate((el) => (el.scrollTop = 0));
    await yours(page).first().waitFor();
    await shot(page, "153-approval-zoomed");
  });
});

for (const [name, look] of Object.entries({ dark, phone })) {
  it(`a question is accessible: ${name}`, async () => {
    await open(look);
    await ask(page, BOTH);
    await choice("Check against rules").waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, `154-question-${name}`);
    await composer(page).fill("2");
    await send(page);
    await asks("Which document has the rules to check against?");
    await shot(page, `155-documents-${name}`);
  });
}
