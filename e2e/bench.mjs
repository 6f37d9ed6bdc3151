// Measures the page of one or two builds, in turns, so that a busy machine affects both alike:
//
//   node bench.mjs [-rounds N] BINARY [BINARY]
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { answer, ask, composer, desktop, newPage, startBrowser } from "./browser.mjs";
import { startSlowModel } from "./slow-model.mjs";
import { startStack } from "./stack.mjs";
import { conversation } from "./thread.mjs";

const SENTENCE = "The keeper winds the clock at **seven** in the evening, and trims the lamp at nine. ";
const ANSWER_BYTES = 28_000;
const PIECE = 6; // characters of a delta
const STEP_MS = 8;
const TURNS = 100;
const SLOW = 1_600_000 / 8; // bytes a second

/** A long answer of headings, paragraphs, lists and a table, in deltas. */
function pieces() {
  let text = "";
  for (let n = 1; text.length < ANSWER_BYTES; n++) text += `## Part ${n}\n\n${SENTENCE.repeat(6)}\n\n${`- ${SENTENCE}\n`.repeat(6)}\n| Hour | Duty |\n| --- | --- |\n${"| seven | the clock |\n".repeat(5)}\n`;
  return text.match(new RegExp(`[^]{1,${PIECE}}`, "g"));
}

const watch = () => {
  window.tasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((e) => window.tasks.push(e.duration))).observe({ type: "longtask", buffered: true });
};
const tasks = (page) => page.evaluate(() => ({ count: window.tasks.length, sum: window.tasks.reduce((a, b) => a + b, 0), max: Math.max(0, ...window.tasks) }));

/** Returns a function that returns the CPU time of the page's main thread, in seconds. It grows less than the clock when the machine is busy. */
async function cpuOf(page) {
  const client = await page.context().newCDPSession(page);
  await client.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => (await client.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
}

/** Runs what, and returns the CPU time of the longest task of the page's main thread meanwhile, in ms. On a busy machine a task also waits for a core. */
async function longestTask(browser, page, what) {
  await browser.startTracing(page, { categories: ["disabled-by-default-devtools.timeline"] });
  await what();
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  const mains = new Set(traceEvents.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`));
  return Math.max(...traceEvents.filter((e) => e.name === "RunTask" && mains.has(`${e.pid} ${e.tid}`)).map((e) => (e.tdur ?? 0) / 1000));
}

/** Opens the page on a slow connection, with an empty cache. */
async function usableSlowly(browser, url) {
  const { page, context } = await newPage(browser, url, desktop);
  const client = await context.newCDPSession(page);
  await client.send("Network.enable");
  await client.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: SLOW, uploadThroughput: SLOW });
  const took = await usable(page);
  await context.close();
  return took;
}

/** Opens the page, and returns when its composer accepts typing. */
async function usable(page) {
  await page.goto("/");
  await page.locator("[data-composer] [contenteditable=true]:focus").waitFor();
  return page.evaluate(() => performance.now());
}

/** Measures the build at PALAVER_BINARY. */
async function measure() {
  const model = await startSlowModel(["Yes."], 1);
  const stack = await startStack(model.settings);
  const browser = await startBrowser();
  const out = {};
  try {
    const { page } = await newPage(browser, stack.url, desktop);
    await page.addInitScript(watch);
    const cpu = await cpuOf(page);
    let bytes = 0;
    page.on("response", (r) => void r.request().sizes().then((s) => (bytes += s.responseBodySize + s.responseHeadersSize)).catch(() => {}));
    out["usable, ms"] = await usable(page);
    out["first paint, ms"] = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
    await page.waitForLoadState("networkidle");
    out["first load, kB"] = bytes / 1000;
    out["longest task of the load, ms"] = (await tasks(page)).max;
    out["load: CPU, s"] = await cpu();
    out["usable at 1.6 Mbit/s, ms"] = await usableSlowly(browser, stack.url);

    await ask(page, "Are you there?");
    await answer(page, 1);
    await page.getByRole("button", { name: "Mode: Document answers" }).click();
    await page.getByRole("menuitemradio", { name: "Assistant" }).click();
    Object.assign(model, { pieces: pieces() });
    await page.evaluate(() => void (window.tasks.length = 0));
    const before = await cpu();
    out["streaming: longest task, ms of CPU"] = await longestTask(browser, page, async () => {
      const began = Date.now();
      await ask(page, "Tell me all");
      await page.getByRole("article", { name: "Palaver is writing" }).waitFor();
      await answer(page, 2);
      const took = Date.now() - began;
      const { sum, max } = await tasks(page);
      out["streaming: longest task, ms"] = max;
      out["streaming: time in long tasks, %"] = (100 * sum) / took;
      out["streaming: CPU, s"] = (await cpu()) - before;
    });

    model.pieces = ["Yes, the keeper is there."];
    const id = crypto.randomUUID();
    for (let i = 0; i < TURNS; i++) await page.request.post("/api/ui/chat", { data: { id, agent: "assistant", message: { id: `m${i}`, role: "user", parts: [{ type: "text", text: `Question ${i}` }] } } });
    const opened = await page.context().newPage();
    const cpuOfOpened = await cpuOf(opened);
    await opened.goto(`/chat/${id}`);
    await conversation(opened).getByText(`Question ${TURNS - 1}`, { exact: true }).waitFor();
    out["thread of 200 messages, ms"] = await opened.evaluate(() => performance.now());
    out["thread of 200 messages: CPU, s"] = await cpuOfOpened();
  } finally {
    await browser.close();
    await stack.stop();
    await model.stop();
  }
  return out;
}

const child = (binary) =>
  new Promise((resolve, reject) => {
    let said = "";
    const one = spawn(process.execPath, [fileURLToPath(import.meta.url)], { env: { ...process.env, PALAVER_BINARY: binary, BENCH_ONE: "1" }, stdio: ["ignore", "pipe", "inherit"] });
    one.stdout.on("data", (d) => (said += d));
    one.on("close", (code) => (code ? reject(new Error(`${binary}: ended with ${code}`)) : resolve(JSON.parse(said.trim().split("\n").at(-1)))));
  });

if (process.env.BENCH_ONE) {
  console.log(JSON.stringify(await measure()));
} else {
  const args = process.argv.slice(2);
  const rounds = args[0] === "-rounds" ? Number(args.splice(0, 2)[1]) : 3;
  const results = new Map(args.map((binary) => [binary, []]));
  for (let i = 0; i < rounds; i++) for (const binary of args) results.get(binary).push(await child(binary));
  const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
  for (const what of Object.keys([...results.values()][0][0])) console.log(what.padEnd(36), args.map((b) => String(Math.round(median(results.get(b).map((r) => r[what])) * 10) / 10).padStart(10)).join(""));
}
