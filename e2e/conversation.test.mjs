// Conversations with the offline engine and the sample documents: questions, tool
// approvals, branches, long conversations and hostile content.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, composer, dark, desktop, phone, shot } from "./browser.mjs";
import { arrive, context, faults, leaveNoFaults, page, stack, useStack } from "./suite.mjs";
import { assertSoon, conversation, history, many, progress, startWithTools, watchProgress, yours } from "./thread.mjs";

const BOTH = "Summarize and audit the remote work policy";
const P2025 = "Remote Work and Customer Data Policy 2025";
const P2024 = "Remote Work and Customer Data Policy 2024";
const EMAIL = "We work from home on five days a week and send customer data to private mail addresses.";

useStack();

const open = async (look) => {
  await arrive(look);
  await watchProgress(page);
  await page.goto("/");
};

beforeEach(() => open());
leaveNoFaults();

const choice = (name, on = page) => assist(on).getByRole("button", { name, exact: true });
const asks = (words, on = page) => assist(on).getByText(words).waitFor();
const gone = (on = page) => assist(on).waitFor({ state: "detached" });

describe("what a thread shows", () => {
  it("an ambiguous message brings PalAssist with the documents; a choice brings the statuses back, then the answer", async () => {
    await ask(page, "Summarize the remote work policy");
    await choice(P2025).waitFor();
    await choice(P2024).waitFor();
    await choice("All of these").waitFor();
    await progress(page).getByText(/./).waitFor({ state: "detached" });
    await shot(page, "50-which-document");
    await page.evaluate(() => void (window.progress.length = 0));
    await choice(P2025).click();
    await gone();
    const got = await answer(page, 1);
    assert.match(await got.textContent(), new RegExp(`Which document would you like to summarize\\?.*${P2025}`));
    await got.locator("[data-citation]").first().waitFor();
    const lines = async () => (await page.evaluate(() => window.progress)).map(([words]) => words);
    assert.ok((await lines()).some(Boolean), "no status was shown");
    await assertSoon(async () => (await lines()).at(-1) === "", "the status disappears after the end of the turn");
    await shot(page, "51-summary");
  });

  it("several actions bring buttons; one is picked and carried out", async () => {
    await ask(page, "Summarize and compare the remote work policies");
    await asks("I can do one thing at a time");
    await choice("Summarize").waitFor();
    await choice("Compare").click();
    await gone();
    await answers(page).or(assist(page)).first().waitFor();
  });

  it("a question for text is answered in the composer", async () => {
    await ask(page, "Audit this email");
    await asks("Paste the text to check");
    await composer(page).and(page.locator(":focus")).waitFor();
    await shot(page, "52-enter-text");
    await ask(page, EMAIL);
    await gone();
    await answers(page).or(assist(page)).first().waitFor();
    await conversation(page).getByText(EMAIL).waitFor();
  });

  it("Esc in the composer cancels a question for text", async () => {
    await ask(page, "Audit this email");
    await asks("Paste the text to check");
    await composer(page).press("Escape");
    await gone();
    await assertSoon(async () => (await history(page)).active_turn === null, "no turn runs");
  });

  it("Cancel ends it without an answer, and the next message starts a new turn at once", async () => {
    await ask(page, BOTH);
    await choice("Cancel").click();
    await ask(page, "How many days a week may employees work remotely?");
    const got = answers(page).filter({ hasText: "three days per week" });
    await got.waitFor();
    await many(assist(page), 0);
    await many(yours(page), 2);
    await assertSoon(async () => (await history(page)).active_turn === null, "no turn runs");
  });

  it("a reload while it asks shows the question again, and an answer continues the turn", async () => {
    await ask(page, BOTH);
    await choice("Summarize").waitFor();
    await page.reload();
    await asks("I can do one thing at a time");
    await choice("Summarize").click();
    await choice(P2025).click();
    await gone();
    await answer(page, 1);
    await page.reload();
    const got = await answer(page, 1);
    assert.match(await got.textContent(), /one thing at a time.*Summarize.*Which document.*2025/s);
    await many(assist(page), 0);
  });

  it("questions in a row: action, document, text, answer", async () => {
    await ask(page, BOTH);
    await choice("Check against rules").click();
    await asks("Which document has the rules to check against?");
    await choice(P2025).click();
    await asks("Paste the text to check");
    await ask(page, EMAIL);
    await gone();
    const text = await (await answer(page, 1)).textContent();
    assert.match(text, /customer data/i);
    await shot(page, "53-audit");
  });
});

describe("a question", () => {
  it("answered in one tab disappears in the other, which shows the answer", async () => {
    await ask(page, BOTH);
    await choice("Summarize").waitFor();
    const tab = await context.newPage();
    await tab.goto(page.url());
    await choice("Summarize", tab).click();
    await choice(P2025, tab).click();
    await answer(tab, 1);
    await answer(page, 1);
    await gone();
    await tab.close();
  });

  it("is answered and cancelled with the keyboard alone", async () => {
    await ask(page, BOTH);
    await choice("Summarize").waitFor();
    await composer(page).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Shift+Tab");
    await choice("Cancel").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Shift+Tab");
    await choice("Check against rules").and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await gone();
    await composer(page).and(page.locator(":focus")).waitFor();
    await ask(page, BOTH);
    await choice("Summarize").waitFor();
    await page.keyboard.press("Escape");
    await gone();
    await assertSoon(async () => (await history(page)).active_turn === null, "the turn has ended");
  });
});

describe("a tool with side effects", () => {
  const card = () => page.getByRole("group", { name: "Tool generate_image" });
  const picture = () => conversation(page).locator("img[src^='/api/attachments/']");

  it("generate_image waits for approval, a reload shows the question again, and approving creates the picture", async () => {
    await startWithTools(page, "draw a cat in a hat");
    await asks("Allow “Generate image”?");
    await page.reload();
    await asks("Allow “Generate image”?");
    await shot(page, "55-approval");
    await choice("Approve").click();
    await many(picture(), 1);
    await card().and(page.locator("[data-tool-state=done]")).waitFor();
    await card().getByRole("button").press("Enter");
    await card().getByRole("group", { name: "Details" }).getByText("a cat in a hat").waitFor();
    await card().getByRole("group", { name: "Result" }).waitFor();
    await shot(page, "56-picture");
    await page.reload();
    await many(picture(), 1);
    await many(conversation(page).getByText("Allow “Generate image”?"), 0); // its card says that it ran
  });

  it("runs with edited arguments; invalid JSON is not sent", async () => {
    await startWithTools(page, "draw a cat in a hat");
    await assist(page).getByRole("button", { name: "Show as JSON" }).click();
    const args = assist(page).getByRole("textbox", { name: "Details" });
    await args.fill("{");
    await choice("Approve").click();
    await assist(page).getByText("This isn't valid JSON yet.").waitFor();
    await args.fill('{"prompt":"a dog in a coat"}');
    await choice("Approve").click();
    await many(picture(), 1);
    await conversation(page).getByText("Approved with changes").waitFor();
  });

  it("rejecting goes on without running it, and the model gets the reason", async () => {
    await startWithTools(page, "draw a cat in a hat");
    await assist(page).getByRole("textbox", { name: /^Reason/ }).fill("no hats please");
    await choice("Reject").click();
    await gone();
    await card().and(page.locator("[data-tool-state=denied]")).waitFor();
    await answer(page, 1);
    await many(picture(), 0);
  });
});

describe("branches", () => {
  const versions = () => page.getByRole("group", { name: "Versions" });
  const edit = async (from, to) => {
    const mine = yours(page).filter({ hasText: from });
    await mine.hover();
    await mine.getByRole("button", { name: "Edit message" }).click();
    const box = page.getByRole("textbox", { name: "Edited message" });
    await box.filter({ hasText: from }).and(page.locator(":focus")).waitFor(); // from then on the editor does not change its text itself
    await box.fill(to);
    await box.press("Enter");
  };

  it("an edited message is another version; both stay, also after a reload, and a message continues the one shown", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await edit("How many days", "Who may work remotely?");
    await answers(page).filter({ hasText: "probation" }).waitFor();
    await many(yours(page), 1);
    await versions().getByText("2/2").waitFor();
    await shot(page, "57-versions");
    await page.reload();
    await versions().getByText("2/2").waitFor();
    await versions().getByRole("button", { name: "Previous version" }).click();
    await yours(page).filter({ hasText: "How many days" }).waitFor();
    await answers(page).filter({ hasText: "three days per week" }).waitFor();
    await ask(page, "What about customer data on private addresses?");
    await answer(page, 2);
    await many(yours(page).filter({ hasText: "How many days" }), 1);
    const { messages } = await history(page);
    assert.deepEqual(messages.filter((m) => m.role === "user").map((m) => m.content), ["How many days a week may employees work remotely?", "What about customer data on private addresses?"]);
  });

  it("the version that is shown is the one that is printed", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await edit("How many days", "Who may work remotely?");
    await versions().getByText("2/2").waitFor();
    await answer(page, 1);
    await versions().getByRole("button", { name: "Previous version" }).click();
    await answers(page).filter({ hasText: "three days per week" }).waitFor();
    const opened = context.waitForEvent("page");
    await page.getByRole("navigation", { name: "Chats" }).getByRole("link").first().hover();
    await page.getByRole("button", { name: /^Options for/ }).first().click();
    await page.getByRole("menuitem", { name: "Print" }).click();
    const printed = await opened;
    await printed.getByText("three days per week").first().waitFor();
    await many(printed.getByText("Who may work remotely?"), 0);
    await printed.close();
  });

  it("another answer is a second version, also after a reload", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await answers(page).first().hover();
    await page.getByRole("button", { name: "Regenerate" }).click();
    await versions().getByText("2/2").waitFor();
    await answer(page, 1);
    await many(yours(page), 1);
    await assertSoon(async () => Object.values((await history(page)).branches).some((b) => b.length === 2), "two versions of one turn");
    await page.reload();
    await versions().getByText("2/2").waitFor();
    await answer(page, 1);
  });

  it("an edit can be cancelled", async () => {
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await yours(page).hover();
    await page.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("textbox", { name: "Edited message" }).and(page.locator(":focus")).waitFor(); // Escape goes to what has the focus
    await page.keyboard.press("Escape");
    await yours(page).getByText("How many days").waitFor();
    await many(versions(), 0);
  });
});

describe("an answer", () => {
  it("says when it was written, with confidence and cost, can be copied, and its citations open in place", async () => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: stack.url });
    await ask(page, "How many days a week may employees work remotely?");
    const got = await answer(page, 1);
    await many(got.getByText(/(High|Medium|Low) confidence/).filter({ visible: true }), 0);
    await got.locator("summary[aria-label='About this answer']").click();
    await got.getByText(/(High|Medium|Low) confidence/).waitFor();
    await many(got.getByText(/tokens/), 0); // without a model nothing is spent
    await got.locator("time").waitFor();
    await yours(page).locator("time").waitFor();
    await page.keyboard.press("Escape");
    await got.getByText(/(High|Medium|Low) confidence/).waitFor({ state: "hidden" });
    await got.hover();
    await got.getByRole("button", { name: "Copy answer" }).click();
    await got.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /three days per week/);
    assert.match(copied, /\[\^1\][^]*\n\[\^1\]: Remote Work and Customer Data Policy 202\d: “/);
    assert.doesNotMatch(copied, /Offline engine/);
    await got.locator("[data-citation]").first().click();
    const mark = page.getByRole("region", { name: /^Text of/ }).locator("mark");
    assert.match(await mark.textContent(), /three days per week/);
    await shot(page, "58-passage");
    await page.locator("[data-announcer]").getByText("Answer ready").waitFor({ state: "attached" });
  });

  it("the link of a citation in another program opens its passage", async () => {
    const said = await page.request.post("/v1/chat/completions", { data: { model: "palaver-documents", messages: [{ role: "user", content: "How many days a week may employees work remotely?" }] } });
    const [cited] = (await said.json()).choices[0].message.annotations;
    await page.goto(cited.url_citation.url);
    const mark = page.getByRole("region", { name: /^Text of/ }).locator("mark");
    assert.match(await mark.textContent(), /three days per week/);
    assert.equal(new URL(page.url()).hash, "", "a reload does not open it again");
    await page.reload();
    await answer(page, 1);
    await many(mark, 0);
  });
});

/** Mocks a thread with these messages. */
async function pretend(messages, atOnce = messages.length) {
  const id = crypto.randomUUID();
  await page.route(`**/api/ui/chat/${id}?*`, (route) => {
    const before = new URL(route.request().url()).searchParams.get("before");
    const end = before ? messages.findIndex((m) => m.id === before) : messages.length;
    const from = Math.max(0, end - atOnce);
    return route.fulfill({ json: { id, messages: messages.slice(from, end), more: from > 0 } });
  });
  await page.route(`**/api/chat/history/${id}?*`, (route) =>
    route.fulfill({ json: { thread_id: id, messages: [{ turn_id: messages.at(-1).metadata.turn_id }], pending_interrupt: null, active_turn: null, branches: {} } }),
  );
  await page.route(`**/api/chat/stream/${id}?*`, () => {}); // never answered: no events from other tabs
  await page.route(`**/api/conversations/${id}`, (route) => route.fulfill({ json: { id, title: "Pretended", created_at: new Date().toISOString() } }));
  await page.goto(`/chat/${id}`);
  return id;
}

const told = (n, text) => ({ id: `u${n}`, role: "user", metadata: { turn_id: `t${n}` }, parts: [{ type: "text", text }] });
const said = (n, text, more = []) => ({ id: `t${n}`, role: "assistant", metadata: { turn_id: `t${n}`, finished_reason: "stop" }, parts: [...more, { type: "text", text, state: "done" }] });

describe("the page", () => {
  it("draws few of 2,000 messages", async () => {
    const messages = [];
    for (let i = 0; i < 1000; i++) messages.push(told(i, `Question ${i}: ${"what about this ".repeat(1 + (i % 5))}?`), said(i, `Answer ${i}.\n\n- one\n- two **bold** \`code\`\n\n${"Some words that fill a line. ".repeat(3 + (i % 9))}`));
    await pretend(messages);
    await conversation(page).getByText("Answer 999.").waitFor();
    await answers(page).nth(5).waitFor();
    const drawn = await page.locator("[data-role]").count();
    assert.ok(drawn < 150, `${drawn} messages are in the page`);
    await conversation(page).hover();
    for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -2500);
    await conversation(page).getByText(/Answer [4-9]\d\d\./).first().waitFor();
    assert.ok((await page.locator("[data-role]").count()) < 150, "also after scrolling");
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await conversation(page).getByText("Answer 999.").waitFor();
  });

  it("keeps a tool card open when the reader scrolls far away and back", async () => {
    const tool = { type: "tool-look", toolCallId: "c1", state: "output-available", input: { path: "/a" }, output: "found" };
    const messages = [];
    for (let i = 0; i < 40; i++) messages.push(told(i, `Question ${i}?`), said(i, `Answer ${i}. ${"Some words that fill a line. ".repeat(30)}`, i === 20 ? [tool] : []));
    await pretend(messages);
    await conversation(page).getByText("Answer 39.").waitFor();
    const card = page.getByRole("group", { name: "Tool look" });
    const goUp = async () => {
      await conversation(page).hover();
      await assertSoon(async () => {
        await page.mouse.wheel(0, -1000);
        return (await card.count()) > 0;
      }, "the card is drawn");
    };
    await goUp();
    await card.getByRole("button").click();
    await card.getByRole("group", { name: "Result" }).getByText("found").waitFor();
    await page.getByRole("button", { name: "Jump to latest" }).click();
    await many(card, 0);
    await goUp();
    await card.getByRole("group", { name: "Result" }).getByText("found").waitFor();
  });

  it("loads older messages on scrolling up without moving the visible ones", async () => {
    const messages = [];
    for (let i = 0; i < 60; i++) messages.push(told(i, `Question ${i}?`), said(i, `Answer ${i}. ${"Some words that fill a line. ".repeat(10)}`));
    await pretend(messages, 40);
    await conversation(page).getByText("Answer 59.").waitFor();
    await conversation(page).hover();
    const older = conversation(page).getByText("Answer 40.");
    for (let i = 0; i < 100 && !(await older.isVisible()); i++) await page.mouse.wheel(0, -500);
    await older.waitFor();
    await page.mouse.wheel(0, -100_000);
    await conversation(page).getByText(/Answer 3\d\./).first().waitFor({ state: "attached" });
    for (let i = 0; i < 100 && !(await conversation(page).getByText("Question 0?").isVisible()); i++) {
      await page.mouse.wheel(0, -2000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await conversation(page).getByText("Question 0?").waitFor();
  });

  it("keeps hostile words, titles and results as plain text", async () => {
    const evil = "<img src=x onerror=alert(1)><script>alert(2)</script>";
    const links = "[run](javascript:alert(3)) ![track](https://evil.example/p.png) <https://example.org>";
    const tool = { type: `tool-look`, toolCallId: "c1", state: "output-available", input: { path: evil }, output: `${evil}\n![x](https://evil.example/y.png)` };
    const source = { type: "source-document", sourceId: "s1", mediaType: "text/plain", title: evil, providerMetadata: { palaver: { n: 1, quote: evil, doc_id: "d" } } };
    const picture = { type: "file", mediaType: "image/png", url: "https://evil.example/z.png" };
    page.on("dialog", () => faults.push("a dialog"));
    await pretend([told(1, evil), said(1, `${evil}\n\n${links} [1]`, [tool, source, picture])]);
    await answers(page).getByText("<script>").first().waitFor();
    assert.equal(await conversation(page).locator("script, img, iframe").count(), 0);
    assert.equal(await conversation(page).locator("a[href^='javascript']").count(), 0);
    const card = page.getByRole("group", { name: "Tool look" });
    await card.getByRole("button").click();
    await card.getByRole("group", { name: "Result" }).getByText("onerror").waitFor();
    await shot(page, "59-hostile");
  });

  for (const [name, look] of Object.entries({ desktop, phone })) {
    it(`says where the links of an answer lead before they are followed, on the ${name}`, async () => {
      await open(look);
      const links = [
        "[Sign in to your bank](https://evil.example/login)",
        "[https://bank.example](https://evil.example/)",
        "[bank](https://bank.example@evil.example/)",
        "[write](mailto:ann@evil.example)",
        "<https://example.org/rules>",
        "[here](/chat/1)",
      ];
      await pretend([told(1, "Links?"), said(1, links.join("\n\n"))]);
      const all = answers(page).getByRole("link");
      await all.first().waitFor();
      assert.deepEqual(await all.allInnerTexts(), [
        "Sign in to your bank (evil.example)",
        "https://bank.example (evil.example)",
        "bank (evil.example)",
        "write (ann@evil.example)",
        "https://example.org/rules",
        "here",
      ]);
      for (const link of await all.all()) {
        assert.equal(await link.getAttribute("target"), "_blank");
        assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
      }
      const host = answers(page).getByText("(evil.example)").first();
      assert.ok(await host.isVisible(), "to touch as well as to a mouse");
      await answers(page).getByRole("link", { name: "Sign in to your bank (evil.example)", exact: true }).focus();
      assert.ok(await host.isVisible(), "and to the keyboard, and by name to a screen reader");
      assert.deepEqual(await axe(page), []);
      await shot(page, `58-${name}-links`);
    });
  }

  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`has no axe violations, and fits, on the ${name}`, async () => {
      await open(look);
      await ask(page, "How many days a week may employees work remotely?");
      await answer(page, 1);
      await shot(page, `60-${name}-answer`);
      assert.deepEqual(await axe(page), []);
      await ask(page, BOTH);
      await choice("Check against rules").waitFor();
      await shot(page, `61-${name}-question`);
      assert.deepEqual(await axe(page), []);
      await choice("Cancel").click();
      await gone();
      await startWithTools(page, "draw a cat in a hat");
      await asks("Allow “Generate image”?");
      await shot(page, `62-${name}-approval`);
      assert.deepEqual(await axe(page), []);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `the page is ${wider} px wider than the ${name}`);
    });
  }
});
