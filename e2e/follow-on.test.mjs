// A message during a running answer, and a stop: what the page shows afterwards.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, composer, shot } from "./browser.mjs";
import { arrive, context, leaveNoFaults, model, page, useSlowModel } from "./suite.mjs";
import { addDocument, assertSoon, conversation, history, interrupted, many, progress, stop, writing, yours } from "./thread.mjs";

const QUESTION = "When does the lighthouse keeper wind the clock?";
const SECOND = "And when do visitors come?";
const PIECES = [...Array.from({ length: 30 }, (_, i) => `Word${i} `), "and the clock is wound ", "at seven ", "[1]."];
const HELD = 8; // number of words that are shown while the model pauses

let sent; // the bodies of the page's messages

useSlowModel(PIECES, 20);

beforeEach(async () => {
  Object.assign(model, { pieces: PIECES, hold: Infinity });
  await arrive();
  sent = [];
  page.on("request", (r) => r.method() === "POST" && new URL(r.url()).pathname === "/api/ui/chat" && sent.push(r.postDataJSON()));
  await page.goto("/");
  await addDocument(page, "Lighthouse notes", "# Lighthouse notes\n\nThe lighthouse keeper winds the clock every evening at seven. Visitors are welcome on Sundays.\n");
});

leaveNoFaults();

/** Asks, and pauses the model in the middle of the answer. */
async function begin() {
  model.hold = HELD;
  await ask(page, QUESTION);
  await writing(page).getByText(`Word${HELD - 1} `).waitFor();
}

const whole = async (n) => assert.match(await (await answer(page, n)).textContent(), /Word29 and the clock is wound at seven/);
const said = async () => (await history(page)).messages.filter((m) => m.role === "user");
const conversations = async () => (await (await page.request.get("/api/conversations")).json()).items;

describe("follow-on messages and stops", () => {
  it("stop before first delta still yields consistent interrupted state", async () => {
    model.hold = 0;
    await ask(page, QUESTION);
    await progress(page).getByText("Researching your question...").waitFor();
    const tab = await context.newPage();
    await tab.goto(page.url());
    await stop(tab).waitFor();
    await stop(page).click();
    const stopped = async (on) => {
      await stop(on).waitFor({ state: "detached" });
      await conversation(on).getByText("You stopped this answer", { exact: true }).waitFor();
      await many(yours(on), 1);
      await many(interrupted(on), 0);
      await progress(on).getByText(/./).waitFor({ state: "detached" });
    };
    await stopped(page);
    await stopped(tab);
    await tab.close();
    await assertSoon(async () => (await history(page)).active_turn === null, "the turn has ended");
    const { messages } = await (await page.request.get(`/api/ui/chat/${page.url().split("/").at(-1)}`)).json();
    const { finished_reason: reason, interrupted_reason: why } = messages.at(-1).metadata;
    assert.deepEqual([reason, why], ["cancelled", "user_cancelled"]);
    await page.reload();
    await stopped(page);
    model.hold = Infinity;
    await ask(page, SECOND);
    await whole(2);
  });

  it("follow-on supersede creates exactly one new turn, no duplicate session", async () => {
    await begin();
    await ask(page, SECOND);
    await interrupted(page).waitFor();
    model.hold = Infinity;
    await whole(2);
    assert.equal(sent.length, 2);
    assert.notEqual(sent[0].client_turn_id, sent[1].client_turn_id);
    assert.equal(sent[1].on_busy, "supersede");
    const all = (await history(page)).messages;
    assert.deepEqual(all.map((m) => m.role), ["user", "assistant", "user", "assistant"]);
    const { finished_reason: reason, interrupted: cut, interrupted_reason: why, client_turn_id: name, token_estimate: tokens } = all[1].metadata;
    assert.deepEqual([reason, cut, why, name], ["cancelled", true, "superseded", sent[0].client_turn_id]);
    assert.ok(tokens > 0);
    assert.equal(new Set(all.map((m) => m.turn_id)).size, 2);
    assert.equal((await conversations()).length, 1);
  });

  it("supersede before the first session event is queued, then sent", async () => {
    model.hold = HELD;
    let arrive;
    const arrival = new Promise((resolve) => (arrive = resolve));
    await page.route("**/api/ui/chat", async (route) => {
      if (route.request().postDataJSON().message.parts[0].text === QUESTION) await arrival;
      await route.continue();
    });
    const first = page.waitForRequest("**/api/ui/chat");
    await ask(page, QUESTION);
    await first;
    await ask(page, SECOND);
    assert.equal(sent.length, 1, "the second waits until the server knows the conversation");
    arrive();
    await yours(page).getByText(SECOND).waitFor();
    model.hold = Infinity;
    await answers(page).last().getByText("at seven").waitFor();
    await page.reload();
    await answers(page).last().getByText("at seven").waitFor();
    assert.deepEqual((await said()).map((m) => m.content), [QUESTION, SECOND]);
    assert.equal(sent.length, 2);
    assert.equal((await conversations()).length, 1);
  });

  it("two messages typed one after the other, without a pause, on the welcome page are one conversation", async () => {
    await composer(page).click(); // the first movement of the pointer loads the code of the conversation
    await page.waitForFunction(() => ["js", "css"].every((kind) => performance.getEntriesByType("resource").some((e) => e.responseEnd > 0 && new RegExp(`/Thread-[^/]*\\.${kind}$`).test(e.name))));
    await page.evaluate(() => import(performance.getEntriesByType("resource").find((e) => /\/Thread-[^/]*\.js$/.test(e.name)).name));
    model.hold = HELD;
    await page.keyboard.type(QUESTION);
    await page.keyboard.press("Enter");
    await page.keyboard.type(SECOND);
    await page.keyboard.press("Enter");
    await yours(page).getByText(SECOND).waitFor();
    model.hold = Infinity;
    await answers(page).last().getByText("at seven").waitFor();
    assert.deepEqual((await said()).map((m) => m.content), [QUESTION, SECOND]);
    assert.equal((await conversations()).length, 1);
  });

  it("a stopped answer keeps its citations, also after a reload", async () => {
    model.pieces = ["It is written [1]. ", ...Array.from({ length: 4_000 }, (_, i) => `Word${i} `)];
    await ask(page, QUESTION);
    await writing(page).getByText("Word40 ").waitFor();
    await stop(page).click();
    for (const arrive of [async () => {}, () => page.reload()]) {
      await arrive();
      await interrupted(page).first().waitFor();
      await answers(page).last().getByRole("button", { name: /^Citation 1: / }).waitFor();
      await answers(page).last().getByRole("list", { name: "Sources" }).getByRole("button").first().waitFor();
    }
    await shot(page, "follow-on-partial-with-citations");
  });

  for (const [how, end] of Object.entries({
    "a stop": () => composer(page).press("Escape"),
    "a follow-on": () => composer(page).press("Enter"),
  })) {
    it(`after ${how} buffered text is shown before the badge, and no text after it`, async () => {
      model.pieces = Array.from({ length: 4_000 }, (_, i) => `Word${i} `);
      await page.evaluate(() => {
        window.texts = []; // the answer's text at each change, from when the badge appears
        const badge = /You stopped this answer|This answer was interrupted/;
        new MutationObserver(() => {
          const text = [...document.querySelectorAll("article")].map((a) => a.textContent).find((t) => badge.test(t));
          const words = text?.split(badge)[0];
          if (words !== undefined && window.texts.at(-1) !== words) window.texts.push(words);
        }).observe(document, { childList: true, subtree: true, characterData: true });
      });
      await ask(page, QUESTION);
      await writing(page).getByText("Word40 ").waitFor();
      if (how === "a follow-on") await composer(page).fill(SECOND);
      await end();
      await interrupted(page).first().waitFor();
      if (how === "a follow-on") await stop(page).click();
      await stop(page).waitFor({ state: "detached" });
      const texts = await page.evaluate(() => window.texts);
      assert.equal(texts.length, 1, `the words changed under the badge: ${texts.map((t) => t.length).join(", ")} characters`);
      await assertSoon(async () => (await history(page)).active_turn === null, "the turn has ended");
      const kept = (await history(page)).messages.find((m) => m.role === "assistant").content;
      assert.ok(kept.startsWith(texts[0].trim().slice(0, 300)), "it is the text that the server stored");
      if (how === "a stop") assert.equal(texts[0].trim(), kept.trim());
    });
  }
});
