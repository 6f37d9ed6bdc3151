// Temporal's Web UI shows encrypted histories in plain text only after a sign-in at the
// codec.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { shot, startBrowser } from "../browser.mjs";
import { freePort, startStack } from "../stack.mjs";

const TOKEN = "a-token-for-operators-only";

let stack;
let browser;
let ui; // URL of the Web UI
let codec;
let thread;

before(async () => {
  const port = await freePort();
  ui = `http://localhost:${port}`;
  stack = await startStack({ TEMPORAL_UI_PORT: port, PAYLOAD_ENCRYPTION_KEY: "1".repeat(32), CODEC_TOKEN: TOKEN });
  codec = `localhost:${new URL(stack.url).port}/codec`;
  browser = await startBrowser();
  thread = randomUUID();
  const sent = await fetch(`${stack.url}/api/chat`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ message: "Hello", thread_id: thread }) });
  assert.equal(sent.status, 200);
  assert.match(await sent.text(), /"type":"response"/);
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Opens a new browser context. statuses collects the statuses of the codec's responses to the Web UI. */
async function operator() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(120_000); // for busy machines
  const page = await context.newPage();
  const statuses = new Set();
  page.on("response", (r) => new URL(r.url()).pathname === "/codec/decode" && r.request().method() === "POST" && statuses.add(r.status()));
  return { page, context, statuses };
}

/** Opens the history of the conversation and returns the block with the workflow's input. */
async function inputOf(page) {
  await page.goto(`${ui}/namespaces/default/workflows/${encodeURIComponent(`thread:${thread}`)}`);
  return page.locator(".cm-content").first();
}

describe("Temporal's Web UI with encrypted histories", () => {
  it("shows plain text to an operator who has signed in at the codec", async () => {
    const { page, context, statuses } = await operator();
    await page.goto(`http://operator:${TOKEN}@${codec}`);
    await page.getByText("You are signed in.").waitFor();
    const input = await inputOf(page);
    await input.getByText("owner", { exact: false }).first().waitFor();
    const said = await input.innerText();
    assert.ok(said.includes(thread), said);
    assert.ok(statuses.has(200));
    await shot(page, "temporal-ui-decoded");
    await context.close();
  });

  it("shows encrypted payloads to others", async () => {
    const { page, context, statuses } = await operator();
    const input = await inputOf(page);
    await input.waitFor();
    const said = await input.innerText();
    assert.ok(!said.includes(thread), said);
    assert.deepEqual([...statuses], [401]);
    await shot(page, "temporal-ui-encrypted");
    await context.close();
  });

  it("does not let pages of other origins decrypt", async () => {
    const { page, context } = await operator();
    await page.goto(`http://operator:${TOKEN}@${codec}`);
    await page.goto(stack.url.replace("127.0.0.1", "localhost"));
    const status = await page.evaluate(async (url) => (await fetch(url, { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: '{"payloads":[]}' })).status, `http://${codec}/decode`);
    assert.equal(status, 403);
    await context.close();
  });
});
