// The client of clients/typescript in a page of another origin: a frozen tab, silence, closed connections, another network.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { after, afterEach, beforeEach, describe, it } from "node:test";
import { desktop, newPage } from "../browser.mjs";
import { startCutter } from "../clients/cutter.mjs";
import { rolldown } from "../../clients/typescript/node_modules/rolldown/dist/index.mjs";
import { browser, model, stack, useSlowModel } from "../suite.mjs";
import { assertSoon } from "../thread.mjs";

const PIECES = Array.from({ length: 8 }, (_, i) => `word${i} `);
const WHOLE = PIECES.join("").trim();
const NEVER = 3_600_000;

async function bundle() {
  const build = await rolldown({ input: fileURLToPath(new URL("../../clients/typescript/src/index.ts", import.meta.url)), platform: "browser" });
  const { output } = await build.generate({ format: "iife", name: "palaver" });
  await build.close();
  return output[0].code;
}

let other; // serves a page with the client
let cutter;
useSlowModel(PIECES, 5, async () => {
  const script = await bundle();
  other = createServer((req, res) => res.writeHead(200, { "Content-Type": req.url === "/client.js" ? "text/javascript" : "text/html" }).end(req.url === "/client.js" ? script : '<!doctype html><title>Another page</title><script src="/client.js"></script>'));
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  return { ALLOWED_ORIGINS: origin() };
});
const origin = () => `http://127.0.0.1:${other.address().port}`;
after(async () => {
  other?.close();
  await cutter?.stop();
});

describe("the client in a page of another origin", () => {
  let opened, page, cdp, key;
  beforeEach(async () => {
    cutter ??= await startCutter(stack.url);
    Object.assign(cutter, { cut: () => undefined, cuts: 0, streams: [], freeze: false });
    model.hold = 3;
    opened = await newPage(browser, origin(), desktop);
    page = opened.page;
    opened.context.setDefaultTimeout(25_000);
    const made = await opened.context.request.post(`${stack.url}/api/me/keys`, { data: { name: "page", days: 1 } });
    key = (await made.json()).key;
    cdp = await opened.context.newCDPSession(page);
    await page.goto("/");
  });
  afterEach(() => opened?.context.close());

  /** Sends a message, and waits for the beginning of its answer. */
  async function begin(options = {}) {
    await page.evaluate(
      ([baseUrl, token, options]) => {
        window.client = palaver.createClient({ baseUrl, token, ...options });
        window.thread = client.thread();
        window.turn = thread.send("When?", { agent: "assistant" });
        window.events = [];
        window.wakes = [];
        for (const name of ["freeze", "resume"]) document.addEventListener(name, () => wakes.push(name));
        for (const name of ["offline", "online"]) addEventListener(name, () => wakes.push(name));
        void (async () => {
          for await (const event of turn) events.push(event);
        })();
      },
      [cutter.url, key, options],
    );
    await has("word2");
  }
  const until = (holds, arg) => page.waitForFunction(holds, arg, { polling: 50 }); // a hidden tab draws no frames
  const has = (text) => until((text) => turn.snapshot().text.includes(text), text);
  /** Cuts the stream with its next byte, and waits until the client has seen it. */
  async function cutNow() {
    cutter.cut = () => 0;
    model.hold = 4;
    await until(() => turn.snapshot().retrying);
    cutter.cut = () => undefined;
  }
  const lifecycle = (state) => cdp.send("Page.setWebLifecycleState", { state });
  const wakes = () => page.evaluate(() => window.wakes);
  /** Waits until the server has the whole answer. */
  async function finished() {
    const id = await page.evaluate(() => thread.id);
    model.hold = Infinity;
    await assertSoon(async () => (await (await opened.context.request.get(`${stack.url}/api/chat/history/${id}`)).json()).messages.at(-1).content === WHOLE, "the server has the answer");
  }
  /** The answer is whole, and each event came once. */
  async function assertWhole() {
    const { status, text } = await page.evaluate(() => turn.done);
    assert.deepEqual([status, text], ["done", WHOLE]);
    await until(() => events.at(-1)?.type === "response");
    const events = await page.evaluate(() => window.events);
    assert.equal(events.filter((e) => e.type === "token").map((e) => e.content).join("").trim(), WHOLE);
    const ids = events.map((e) => e.event_id);
    assert.equal(new Set(ids).size, ids.length, `an event came twice: ${ids}`);
    const [first, ...others] = cutter.streams.map((s) => s.split(" ")[0]);
    assert.deepEqual([first, ...new Set(others)].slice(0, 2), others.length ? ["POST", "GET"] : ["POST"], "the message is sent once");
    return others.length;
  }

  it("has the whole answer after a tab was frozen in the middle of it", async () => {
    await begin();
    await lifecycle("frozen");
    await finished();
    await lifecycle("active");
    await assertWhole();
  });

  it("attaches again after the connection was silent for too long, as after a sleep", async () => {
    await begin({ silence: 1_000, backoff: [1] });
    cutter.freeze = true; // nothing arrives any more, and nobody closes the connection
    await finished();
    await until(() => turn.snapshot().retrying);
    cutter.freeze = false;
    assert.ok((await assertWhole()) >= 1);
  });

  it("attaches again when a proxy has closed the connection", async () => {
    await begin({ backoff: [1] });
    cutter.cut = (text, nth) => (nth === 1 ? 0 : undefined);
    await finished();
    assert.equal(await assertWhole(), 1);
  });

  it("attaches again at once on another network", async () => {
    await begin({ backoff: [NEVER] });
    await opened.context.setOffline(true);
    await cutNow();
    await finished();
    await opened.context.setOffline(false);
    assert.equal(await assertWhole(), 1);
    assert.deepEqual(await wakes(), ["offline", "online"]);
  });

  it("stops, and tells the progress of an upload", async () => {
    await begin();
    await page.evaluate(() => thread.stop());
    assert.equal((await page.evaluate(() => turn.done)).status, "stopped");
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 200_000 });
    const shares = await page.evaluate(async () => {
      const shares = [];
      await client.documents.upload(new File(["The keeper winds the clock. ".repeat(10_000)], "notes.txt"), { onProgress: (share) => shares.push(share) });
      return shares;
    });
    assert.deepEqual([shares[0], shares.at(-1)], [0, 1]);
    assert.ok(shares.some((share) => share > 0 && share < 1), `${shares}`);
  });
});
