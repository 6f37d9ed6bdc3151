// What a person with an open page sees while a slow model writes: statuses before
// the answer, words as they arrive, and a stop that keeps them. A second message
// supersedes the answer or waits for it. A reload, a broken or silent connection
// and a crash lose nothing.
import assert from "node:assert/strict";
import { after, afterEach, beforeEach, describe, it } from "node:test";
import { answer, answers, ask, askTagging, composer, desktop, messageForm, phone, shot } from "./browser.mjs";
import { startFront } from "./front.mjs";
import { gate } from "./model-server.mjs";
import { arrive, context, faults, leave, model, page, stack, useSlowModel } from "./suite.mjs";
import { addDocument, assertSoon, conversation, history, interrupted, many, progress, stop, watchProgress, writing, yours } from "./thread.mjs";

const TITLE = "Lighthouse notes";
const QUOTE = "The lighthouse keeper winds the clock every evening at seven.";
const QUESTION = "When does the lighthouse keeper wind the clock?";
const PIECES = [...Array.from({ length: 30 }, (_, i) => `Word${i} `), "and the clock is wound ", "at seven ", "[1]."];
const STEP_MS = 30;
const HELD = 8; // number of words that are shown while the model pauses

let front;

useSlowModel(PIECES, STEP_MS, () => ({ LLM_RETRY_BUDGET: "1s" }));
after(() => front?.stop());

beforeEach(async () => {
  front ??= await startFront(stack.url);
  await arrive(desktop, front.url);
  await watchProgress(page);
  await page.goto("/");
  await addDocument(page, TITLE, `# ${TITLE}\n\n${QUOTE} Visitors are welcome on Sundays.\n`);
});

afterEach(async () => {
  front.restore();
  Object.assign(model, { pieces: PIECES, failing: false, hold: Infinity, thinking: undefined });
  await leave();
});

/** Waits until the running answer has its n-th word. */
const written = (n, on = page) => writing(on).getByText(`Word${n} `).waitFor();
const whole = (text) => {
  for (let i = 0; i < 30; i++) assert.equal(text.split(`Word${i} `).length, 2, `Word${i} stands once in: ${text}`);
  assert.match(text, /at seven/);
};
/** Asks, and pauses the model in the middle of the answer. */
const begin = async () => {
  model.hold = HELD;
  await ask(page, QUESTION);
  await written(HELD - 1);
};
const goOn = () => {
  model.hold = Infinity;
};
const finished = async () => {
  await begin();
  goOn();
  return answer(page, 1);
};

describe("a message and its answer", () => {
  it("on a phone, all buttons of the message form are in view while the answer comes", async () => {
    await leave();
    await arrive(phone, front.url);
    await page.goto("/");
    await addDocument(page, TITLE, `# ${TITLE}\n\n${QUOTE}\n`);
    await begin();
    await composer(page).fill("And on Sundays?");
    await messageForm(page).getByRole("button", { name: "Stop and send" }).waitFor();
    for (const button of await messageForm(page).getByRole("button").all()) {
      const { x, width } = await button.boundingBox();
      assert.ok(x >= 0 && x + width <= 390 && width >= 24, `${await button.getAttribute("aria-label")}: from ${x}, ${width} wide`);
    }
    goOn();
    await answer(page, 1);
  });

  it("the message is there at once, the statuses follow each other for at least 300 ms each, and the answer takes their place", async () => {
    const thinking = gate();
    Object.assign(model, { hold: 0, thinking }); // text would clear queued statuses
    await ask(page, QUESTION);
    await page.waitForURL(/\/chat\//);
    const mine = yours(page).getByText(QUESTION);
    await mine.waitFor();
    const box = await mine.boundingBox();
    const room = await conversation(page).boundingBox();
    assert.ok(box.x > room.x + room.width / 2 - box.width, "the message is at the right");
    await progress(page).getByText(/(?:…|\.\.\.)$/).waitFor();
    await shot(page, "30-progress");
    thinking.open();
    await assertSoon(() => page.evaluate(() => window.progress.some(([words]) => words === "Researching your question...")), "the last status was shown");
    goOn();
    whole(await (await answer(page, 1)).textContent());
    await progress(page).getByText(/./).waitFor({ state: "detached" });
    const lines = (await page.evaluate(() => window.progress)).filter(([words]) => words !== "Thinking…");
    const order = ["Clarifying intent...", "Finding documents...", "Validating request...", "Researching your question..."];
    assert.deepEqual(lines.map(([words]) => words).filter((words) => order.includes(words)), order);
    for (let i = 1; i < lines.length; i++) {
      const [words, since] = lines[i - 1];
      // The limit is below 300 ms, because drawing takes time before and after. Another test checks the pace itself.
      if (order.includes(words)) assert.ok(lines[i][1] - since >= 200, `"${words}" stood for ${lines[i][1] - since} ms`);
    }
    assert.deepEqual(faults, []);
  });

  it("the statuses disappear while the answer streams, and the layout does not shift", async () => {
    await begin();
    await progress(page).getByText(/./).waitFor({ state: "detached" });
    await writing(page).getByText(`Word${HELD - 1} `).waitFor();
    await stop(page).waitFor();
    goOn();
    await answer(page, 1);
  });

  it("a mentioned document is shown as a pill while it is found", async () => {
    await askTagging(page, "What does ", TITLE, " say about the clock?");
    await page.getByRole("list", { name: "Documents found" }).getByText(TITLE).waitFor();
    await shot(page, "31-documents-found");
    await answer(page, 1);
  });

  it("the statuses never scroll the page, nor do the documents found", async () => {
    await page.setViewportSize({ width: 1280, height: 420 }); // the first answer does not fit
    await finished();
    const thinking = gate();
    Object.assign(model, { hold: 0, thinking });
    await askTagging(page, "What does ", TITLE, " say about the clock?");
    await progress(page).getByText("Clarifying intent...").waitFor();
    await page.evaluate(() => {
      const box = document.querySelector(".conversation");
      const found = () => document.querySelector("[aria-label='Documents found']") !== null;
      window.tops = [];
      const note = () => {
        window.tops.push([found(), Math.round(box.scrollTop)]);
        requestAnimationFrame(note);
      };
      note();
    });
    const scrolled = () => page.evaluate(() => window.tops.length > 10 && window.tops.at(-1)[1] > 0 && window.tops.slice(-10).every(([, top]) => top === window.tops.at(-1)[1]));
    await assertSoon(scrolled, "the message is scrolled to");
    thinking.open();
    await page.getByRole("list", { name: "Documents found" }).getByText(TITLE).waitFor();
    await progress(page).getByText("Researching your question...").waitFor();
    const tops = await page.evaluate(() => window.tops);
    const last = tops.findIndex(([found]) => found) - 1;
    assert.ok(last >= 0 && tops[last][1] > 0, "it can be scrolled, and the documents come later");
    assert.deepEqual([...new Set(tops.slice(last).map(([, top]) => top))], [tops[last][1]]);
    goOn();
    await answer(page, 2);
  });

  it("the status is static with reduced motion", async () => {
    // An open page may keep its styles for a while after such a change, so this one begins with it.
    await arrive({ ...desktop, reducedMotion: "reduce" }, front.url);
    await page.goto("/");
    await addDocument(page, TITLE, `# ${TITLE}\n\n${QUOTE}\n`);
    model.hold = 0;
    await ask(page, QUESTION);
    const line = progress(page).locator(".shimmer");
    await assertSoon(async () => (await line.evaluate((el) => getComputedStyle(el).animationName)) === "none", "the status does not move");
    goOn();
    await answer(page, 1);
  });

  it("words come one by one, not all at once", async () => {
    await begin();
    assert.doesNotMatch(await writing(page).textContent(), new RegExp(`Word${HELD}`));
    model.hold = 2 * HELD;
    await written(2 * HELD - 1);
    assert.doesNotMatch(await writing(page).textContent(), /Word29/);
    goOn();
    await answer(page, 1);
  });

  it("with the server down a message shows an error, and is sent once when it is back", async () => {
    await finished();
    front.cut();
    await ask(page, "And when do visitors come?");
    await progress(page).getByText(/Reconnecting/).waitFor();
    await shot(page, "32-server-gone");
    front.restore();
    whole(await (await answer(page, 2)).textContent());
    const { messages } = await history(page);
    assert.equal(messages.filter((m) => m.role === "user").length, 2);
  });

  it("leaving in the middle causes no error, and the turn continues", async () => {
    await begin();
    const url = page.url();
    await page.getByRole("button", { name: "New chat" }).or(page.getByRole("link", { name: "New chat" })).first().click();
    await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
    assert.deepEqual(faults, []);
    goOn();
    await page.goto(url);
    whole(await (await answer(page, 1)).textContent());
  });

  it("a message while another is answered ends that one cleanly", async () => {
    await begin();
    await ask(page, "And when do visitors come?");
    await interrupted(page).waitFor();
    goOn();
    whole(await (await answer(page, 2)).textContent());
    await page.reload();
    await answer(page, 2);
    await many(yours(page), 2);
    assert.match(await answers(page).first().textContent(), /Word0 Word1 .*(You stopped this answer|This answer was interrupted)/s);
    assert.deepEqual(faults, []);
  });
});

describe("a person can", () => {
  it("stop with Escape: what was written stays, and says so", async () => {
    await begin();
    await shot(page, "33-writing");
    await page.getByRole("searchbox", { name: "Search chats" }).press("Escape"); // of that field: it stops nothing
    await many(interrupted(page), 0);
    assert.ok(await stop(page).isVisible());
    await composer(page).focus();
    await page.keyboard.press("Escape");
    await interrupted(page).waitFor();
    assert.match(await answers(page).first().textContent(), /Word0 Word1 /);
    await page.reload();
    await interrupted(page).waitFor();
    await many(answers(page), 1);
    await shot(page, "34-stopped");
  });

  it("queue a message behind the answer, also across a reload, and withdraw one", async () => {
    await begin();
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    for (const text of ["And when do visitors come?", "Never mind this one"]) {
      await composer(page).fill(text);
      await composer(page).press("Control+Enter");
      await waiting.filter({ hasText: text }).waitFor();
    }
    await shot(page, "35-waiting");
    await waiting.filter({ hasText: "Never mind" }).getByRole("button", { name: "Remove from queue" }).click();
    await page.reload();
    await waiting.filter({ hasText: "visitors" }).waitFor();
    await written(HELD - 1);
    await many(waiting, 1);
    goOn();
    const later = yours(page).filter({ hasText: "visitors" });
    await later.waitFor();
    whole(await answers(page).first().textContent());
    whole(await answers(page).last().filter({ hasText: "at seven" }).textContent());
    await many(interrupted(page), 0);
    await many(waiting, 0);
  });

  it("reload while it is written: the same answer continues, and is shown once", async () => {
    await begin();
    await page.reload();
    await written(HELD - 1);
    goOn();
    whole(await (await answer(page, 1)).textContent());
    await many(yours(page), 1);
  });

  it("watch it in a second tab, and stop it there", async () => {
    await begin();
    const tab = await context.newPage();
    await tab.goto(page.url());
    await written(HELD - 1, tab);
    await stop(tab).click();
    await interrupted(tab).waitFor();
    await interrupted(page).waitFor();
    await tab.close();
  });

  it("read in a second tab what was asked in the first after it was opened", async () => {
    await finished();
    const tab = await context.newPage();
    await tab.goto(page.url());
    await answer(tab, 1);
    await ask(page, "And when do visitors come?");
    await yours(tab).getByText("visitors").waitFor();
    whole(await (await answer(tab, 2)).textContent());
    await tab.close();
  });
});

describe("nothing is lost when", () => {
  it("the network is cut and comes back", async () => {
    await begin();
    front.cut();
    await progress(page).getByText(/Reconnecting/).waitFor();
    assert.match(await writing(page).textContent(), /Word0 Word1/, "the words so far stay");
    await shot(page, "36-reconnecting");
    goOn();
    front.restore();
    whole(await (await answer(page, 1)).textContent());
    await many(yours(page), 1);
  });

  it("no byte comes for 30 s", async () => {
    await arrive(desktop, front.url);
    await page.clock.install();
    await page.goto("/");
    await addDocument(page, TITLE, `# ${TITLE}\n\n${QUOTE}\n`);
    await begin();
    front.freeze();
    await page.clock.fastForward(31_000);
    await progress(page).getByText(/Reconnecting/).waitFor();
    goOn();
    front.restore();
    await page.clock.fastForward(2_000);
    whole(await (await answer(page, 1)).textContent());
  });

  it("the server crashes: the open page gets the whole answer once", async () => {
    await begin();
    await stack.kill();
    await progress(page).getByText(/Reconnecting/).waitFor();
    goOn();
    await stack.start();
    const got = answers(page).first();
    await got.waitFor({ timeout: 90_000 });
    whole(await got.textContent());
    await got.locator("[data-citation]").click();
    assert.equal(await page.getByRole("region", { name: /^Text of/ }).locator("mark").textContent(), QUOTE);
    await page.reload();
    await answer(page, 1);
    await many(answers(page), 1);
    await many(yours(page), 1);
  });

  for (const [name, prefetched] of Object.entries({ "the page has loaded what a chat needs": true, "it has not": false })) {
    it(`the server cannot be reached before the first message, and ${name}`, async () => {
      await arrive(desktop, front.url);
      await page.goto("/");
      await addDocument(page, TITLE, `# ${TITLE}\n\n${QUOTE}\n`);
      await page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name: /policy/i }).first().waitFor();
      const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").filter((r) => /\/(Thread|Markdown)-[^/]*\.js$/.test(r.name) && r.responseEnd > 0).length);
      if (prefetched) {
        await page.mouse.move(5, 5); // a first use
        await assertSoon(async () => (await loaded()) === 2, "the page has loaded what a chat needs");
      }
      front.cut();
      await ask(page, QUESTION);
      await page.getByText("The server can't be reached. Reconnecting…").first().waitFor();
      await page.getByRole("main").getByText(QUESTION, { exact: true }).waitFor();
      await shot(page, `36-unreachable-${prefetched}`);
      front.restore();
      whole(await (await answer(page, 1)).textContent());
      await many(page.getByText(/Reconnecting/), 0);
      await many(yours(page), 1);
      assert.ok(await page.evaluate(() => [...document.querySelectorAll("link[rel=stylesheet]")].every((link, _, all) => link.sheet || all.some((other) => other.sheet && other.href === link.href))), "every stylesheet is loaded");
    });
  }

  it("the model fails: the page shows an error, and Try again gives another answer to the same message", async () => {
    model.failing = true;
    await page.evaluate(() => {
      window.heard = [];
      new MutationObserver(() => window.heard.push(document.querySelector("[data-announcer]")?.textContent)).observe(document, { childList: true, subtree: true, characterData: true });
    });
    await ask(page, QUESTION);
    await page.getByRole("alert").filter({ hasText: "The AI service" }).waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await many(page.getByText(/The AI service/).filter({ visible: true }), 1);
    assert.ok(!(await page.evaluate(() => window.heard)).includes("Answer ready"), "a failed answer is announced by the alert alone");
    await shot(page, "37-model-failed");
    model.failing = false;
    await page.getByRole("button", { name: "Try again" }).click();
    whole(await (await answer(page, 1)).textContent());
    await many(yours(page), 1);
    await page.getByRole("group", { name: "Versions" }).getByText("2/2").waitFor();
  });

  it("the model is busy: the page says so until the answer begins", async () => {
    model.failing = 429;
    await ask(page, QUESTION);
    await page.getByText("Model busy, retrying (1)").waitFor();
    await shot(page, "38-model-busy");
    model.failing = false;
    whole(await (await answer(page, 1)).textContent());
    await many(page.getByText("Model busy"), 0);
    await page.reload();
    await answer(page, 1);
    await many(page.getByText("Model busy"), 0);
  });

  it("the history cannot be read: it says so, and a retry loads it", async () => {
    await finished();
    let broken = true;
    await page.route("**/api/ui/chat/*", (route) => (broken ? route.fulfill({ status: 500, json: { error: { code: "internal", message: "Something went wrong on our side." } } }) : route.continue()));
    await page.reload();
    await page.getByText("This chat couldn't be opened.").waitFor();
    await shot(page, "38-history-failed");
    broken = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await answer(page, 1);
  });

  it("messages come too fast: the wait is counted down, and the retry is the same message", async () => {
    await finished();
    let refused = 0;
    const bodies = [];
    await page.route("**/api/ui/chat", (route) => {
      bodies.push(route.request().postData());
      return refused++ === 0 ? route.fulfill({ status: 429, headers: { "Retry-After": "3" }, json: { error: { code: "rate_limited", message: "Too many messages." } } }) : route.continue();
    });
    await ask(page, "And when do visitors come?");
    const again = page.getByRole("button", { name: /^Try again/ });
    await page.getByRole("button", { name: /Try again in \d s/ }).waitFor();
    await shot(page, "39-too-fast");
    assert.equal(await again.isDisabled(), true);
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await answer(page, 2);
    assert.equal(bodies.length, 2);
    assert.equal(bodies[0], bodies[1]);
    await assertSoon(async () => (await history(page)).messages.filter((m) => m.role === "user").length === 2, "two messages");
  });
});

describe("an answer of 20,000 tokens", () => {
  /** The number of frames in which the pointer over the conversation hits no element of it. */
  const missed = (frames = 60) =>
    conversation(page).evaluate(async (box, frames) => {
      const { left, top, width, height } = box.getBoundingClientRect();
      let n = 0;
      for (let i = 0; i < frames; i++) {
        await new Promise(requestAnimationFrame);
        if (!document.elementFromPoint(left + width / 2, top + height / 4)?.closest("article")) n++;
      }
      return n;
    }, frames);

  it("is followed to its end while the page stays responsive", async () => {
    const line = "Some **words** of a long answer with `code` in them, and more words that fill the line up.";
    const part = (i) => `## Part ${i}\n\n${line} ${line}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`js\nconst part = ${i};\n\`\`\`\n\n`;
    model.pieces = [...Array.from({ length: 220 }, (_, i) => part(i)).join("").match(/[^]{1,200}/g), "and the clock is wound at seven [1]."];
    model.hold = 10;
    await page.evaluate(() => {
      window.long = [];
      new PerformanceObserver((list) => window.long.push(...list.getEntries().map((e) => Math.round(e.duration)))).observe({ type: "longtask" });
      // Only the end of an answer that streams may change. Code is coloured when it is complete.
      window.changed = [];
      const known = new WeakMap();
      new MutationObserver((list) => {
        for (const { target } of list) {
          const block = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target)?.closest("[aria-busy=true] .answer > *");
          if (block && !target.parentElement?.closest("pre") && [...block.parentElement.children].indexOf(block) < known.get(block.parentElement) - 1) window.changed.push(block.textContent.slice(0, 80));
        }
        for (const answer of document.querySelectorAll(".answer")) known.set(answer, answer.children.length);
      }).observe(document, { childList: true, characterData: true, subtree: true });
    });
    await ask(page, QUESTION);
    await writing(page).getByRole("heading", { name: "Part 0" }).waitFor();
    model.hold = Infinity;
    await writing(page).getByRole("heading", { name: "Part 40" }).waitFor({ timeout: 60_000 });
    assert.deepEqual(await page.evaluate(() => window.changed), [], "no earlier part is rendered again");
    await composer(page).pressSequentially("I can type");
    await composer(page).getByText("I can type").waitFor();
    assert.equal(await missed(), 0, "elements can be clicked while they move");
    const got = answers(page).first();
    await got.waitFor({ timeout: 120_000 });
    await got.getByText("at seven").waitFor();
    await got.getByText("at seven").and(page.locator(":visible")).waitFor();
    const long = (await page.evaluate(() => window.long)).sort((a, b) => b - a);
    console.log(`an answer of ${model.pieces.join("").length} characters: ${long.length} long tasks, the longest ${long.slice(0, 5).join(", ")} ms`);
    await shot(page, "40-long-answer");
  });
});
