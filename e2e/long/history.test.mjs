// Conversations after a reload, and users with very many conversations and
// documents.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { answer, answers, ask, axe, composer, documents, openDocuments, shot } from "../browser.mjs";
import { arrive, leaveNoFaults, page, useStack } from "../suite.mjs";
import { assertSoon, many, yours } from "../thread.mjs";

useStack();
beforeEach(async () => {
  await arrive();
  await page.goto("/");
});
leaveNoFaults();

describe("reloading a conversation", () => {
  const QUESTIONS = ["How many days a week may employees work remotely?", "Who may work remotely?", "What about customer data on private addresses?"];
  const texts = (of) => of.evaluateAll((all) => all.map((a) => a.querySelector("p")?.textContent));

  it("three messages reload as the same six; another conversation has its own; a new one is empty", async () => {
    for (const [i, question] of QUESTIONS.entries()) {
      await ask(page, question);
      await answer(page, i + 1);
    }
    await many(yours(page), 3);
    const six = async () => [await texts(yours(page)), await texts(answers(page))];
    await many(answers(page), 3);
    const before = await six();
    const same = () => assertSoon(async () => isDeepStrictEqual(await six(), before), "the same six messages");
    assert.deepEqual(before[0], QUESTIONS);
    await page.reload();
    await same();
    const first = page.url();

    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    await many(yours(page), 0);
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    await many(yours(page), 1);
    await page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: new RegExp(QUESTIONS[0].slice(0, 20)) }).click();
    await page.waitForURL(first);
    await same();

    // A conversation that exists and has no messages.
    const { id } = await (await page.request.post("/api/conversations", { data: { title: "Nothing yet" } })).json();
    await page.goto(`/chat/${id}`);
    await page.getByRole("heading", { name: "Nothing yet" }).waitFor();
    await composer(page).waitFor();
    await many(page.getByRole("article"), 0);
    await many(page.getByRole("alert"), 0);
  });

  it("the newest messages stay in the page while it scrolls down to an answer", async () => {
    await page.addInitScript(() => {
      window.dropped = 0;
      let before = 0;
      new MutationObserver(() => {
        const now = document.querySelectorAll("article[aria-label=You]").length;
        if (now < before) window.dropped++;
        before = now;
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto("/");
    for (const [i, question] of QUESTIONS.entries()) {
      await ask(page, question);
      await answer(page, i + 1);
    }
    await many(yours(page), 3);
    assert.equal(await page.evaluate(() => window.dropped), 0);
  });

  it("while it loads it shows placeholders, and an error can be retried", async () => {
    await ask(page, QUESTIONS[0]);
    await answer(page, 1);
    let read;
    const reading = new Promise((resolve) => (read = resolve));
    await page.route("**/api/ui/chat/*", async (route) => {
      await reading;
      await route.continue();
    });
    await page.reload();
    await page.getByText("Opening chat…").waitFor({ state: "attached" });
    await shot(page, "67-opening");
    read();
    await answer(page, 1);
    await many(page.getByText("Opening chat…"), 0);
  });
});

describe("a user with much data", () => {
  /** Creates n items with one(i), several at a time. */
  async function make(n, one) {
    let next = 0;
    const maker = async () => {
      while (next < n) await one(next++);
    };
    await Promise.all(Array.from({ length: 16 }, maker));
  }
  const post = (path, data) =>
    assertSoon(
      async () => {
        const res = await page.request.post(path, { data });
        assert.ok(res.ok() || res.status() === 429, `${path}: ${res.status()}`);
        return res.ok(); // the server limits concurrent uploads
      },
      `${path} is taken`,
      120_000,
    );

  it("finds and opens conversations: 2,000 in the list", async () => {
    await make(2_000, (i) => post("/api/conversations", { title: `Conversation ${String(i).padStart(4, "0")} about topic ${i % 7}` }));
    await page.reload();
    const list = page.getByRole("navigation", { name: "Chats" });
    const rows = list.getByRole("link");
    await rows.first().waitFor();
    assert.ok((await rows.count()) <= 200, "not all at once");

    // Scrolls to the end; each page loads when it comes into view.
    const oldest = (await (await page.request.get("/api/conversations?limit=1&q=0000")).json()).items[0].title;
    const end = rows.filter({ hasText: oldest });
    await list.hover();
    const began = Date.now();
    while (!(await end.count())) await page.mouse.wheel(0, 20_000);
    await end.first().waitFor();
    const drawn = await rows.count();
    console.log(`2,000 conversations: scrolled to the end in ${Date.now() - began} ms, ${drawn} drawn`);
    await shot(page, "68-many-conversations");

    const search = page.getByRole("searchbox", { name: "Search chats" });
    await search.fill("Conversation 0777");
    await many(rows, 1);
    await rows.first().click();
    await page.waitForURL(/\/chat\//);
    await page.getByRole("heading", { name: /^Conversation 0777/ }).waitFor();
    await search.press("Escape");

    // A new entry is at the top, and typing is not delayed.
    await ask(page, "How many days a week may employees work remotely?");
    await answer(page, 1);
    await list.getByRole("link", { name: /^Conversation 0777/ }).first().waitFor();
  });

  it("finds, reads and mentions documents: 500 in the library", async () => {
    await make(500, (i) => post("/api/documents", { title: `Report ${String(i).padStart(3, "0")}`, text: `# Report\n\nThe number of this report is ${i}.\n` }));
    await page.reload();
    await openDocuments(page);
    await documents(page).filter({ hasText: "Report 499" }).waitFor({ state: "attached" });
    await shot(page, "69-many-documents");
    const search = page.getByRole("searchbox", { name: "Search documents" });
    await search.fill("report 321");
    await many(documents(page), 1);
    await page.getByRole("button", { name: "Open Report 321" }).click();
    await page.getByRole("region", { name: "Text of Report 321" }).getByText("The number of this report is 321.").waitFor();
    await page.getByRole("button", { name: "Back to all documents" }).click();
    await search.fill("no such words");
    await page.getByText("No matching documents").waitFor();
    await search.press("Escape");
    await documents(page).filter({ hasText: "Report 499" }).waitFor({ state: "attached" });
    await composer(page).pressSequentially("@report 123");
    await page.getByRole("option", { name: "Report 123" }).waitFor();
    await composer(page).press("Enter");
    await composer(page).locator(".mention", { hasText: "Report 123" }).waitFor();
    assert.deepEqual(await axe(page), []);
  });
});
