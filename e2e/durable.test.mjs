// What a person with an open page sees while a slow model writes: words as they
// come, a stop that keeps them, a reload and a crash that lose nothing.
import assert from "node:assert/strict";
import { after, before, beforeEach, afterEach, describe, it } from "node:test";
import { answer, answers, ask, newPage, shot, startBrowser, upload } from "./browser.mjs";
import { startSlowModel } from "./slow-model.mjs";
import { startStack } from "./stack.mjs";

const QUOTE = "The lighthouse keeper winds the clock every evening at seven.";
const PIECES = [...Array.from({ length: 30 }, (_, i) => `Word${i} `), "and the clock is wound ", "at seven ", "[1]."];
const STEP_MS = 150;

let stack;
let browser;
let model;

before(async () => {
  model = await startSlowModel(PIECES, STEP_MS);
  [stack, browser] = await Promise.all([startStack({ LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "slow" }), startBrowser()]);
});

after(async () => {
  await browser?.close();
  await stack?.stop();
  await model?.stop();
});

describe("while an answer is being written", () => {
  let page;
  let context;

  beforeEach(async () => {
    ({ page, context } = await newPage(browser, stack.url));
    await page.goto("/");
    await upload(page, "Lighthouse notes.md", `# Lighthouse notes\n\n${QUOTE} Visitors are welcome on Sundays.\n`);
    await page.locator("[data-status=ready]").filter({ hasText: "Lighthouse notes" }).waitFor();
    await page.getByRole("button", { name: "Close Documents" }).click();
    await ask(page, "When does the lighthouse keeper wind the clock?");
    await written(5);
  });

  afterEach(() => context.close());

  /** Waits until the answer being written holds its n-th word. */
  const written = (n) => page.getByRole("article", { name: "Palaver is writing" }).getByText(`Word${n} `).waitFor();
  const whole = (text) => {
    for (let i = 0; i < 30; i++) assert.equal(text.split(`Word${i} `).length, 2, `Word${i} stands once in: ${text}`);
    assert.match(text, /at seven/);
  };

  it("Stop keeps what was written and says so", async () => {
    await shot(page, "20-writing");
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Response interrupted").waitFor();
    assert.match(await answers(page).first().textContent(), /Word0 Word1 /);
    await page.reload();
    await page.getByText("Response interrupted").waitFor();
    assert.equal(await answers(page).count(), 1);
    await shot(page, "21-stopped");
  });

  it("a reload goes on with the same answer", async () => {
    await page.reload();
    await written(5);
    whole(await (await answer(page, 1)).textContent());
    assert.equal(await page.getByRole("article", { name: "You" }).count(), 1);
  });

  it("a new message talks over it", async () => {
    await ask(page, "And when do visitors come?");
    await page.getByText("Response interrupted").waitFor();
    whole(await (await answer(page, 2)).textContent());
    await page.reload();
    await answer(page, 2);
    assert.equal(await page.getByRole("article", { name: "You" }).count(), 2);
  });

  it("a crash of the server is a pause: the open page goes on to the whole answer, once", async () => {
    await stack.kill();
    await page.getByText("Reconnecting...").waitFor();
    await shot(page, "22-reconnecting");
    await stack.start();
    const got = answers(page).first();
    await got.waitFor({ timeout: 60_000 });
    whole(await got.textContent());
    await got.locator("[data-citation]").click();
    assert.equal(await page.getByRole("region", { name: /^Text of/ }).locator("mark").textContent(), QUOTE);
    await page.reload();
    await answer(page, 1);
    assert.equal(await answers(page).count(), 1);
    assert.equal(await page.getByRole("article", { name: "You" }).count(), 1);
    await shot(page, "23-after-the-crash");
  });
});
