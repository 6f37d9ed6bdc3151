// How the page feels, measured in a real browser against the real binary:
// opening it, scrolling a long conversation, and typing while a long answer is
// written. Each round measures every case next to an easy counterpart and reports
// the ratio, which does not depend on the machine's speed.
//
//   make bench-page            (ROUNDS=5)
import { addDocument, conversation } from "../../e2e/thread.mjs";
import { composer, newPage, startBrowser } from "../../e2e/browser.mjs";
import { startSlowModel } from "../../e2e/slow-model.mjs";
import { startStack } from "../../e2e/stack.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const LONG = 2_000; // messages
const SHORT = 20;
const PIECE_MS = 10;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const at = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? 0;
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** About 20,000 tokens of headings, lists, tables and code. */
function longAnswer() {
  const line = "Some **words** of a long answer with `code` in them, and more words that fill the line up.";
  const part = (i) => `## Part ${i}\n\n${line} ${line}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\`\`\`js\nconst part = ${i};\n\`\`\`\n\n`;
  const text = Array.from({ length: 290 }, (_, i) => part(i)).join("");
  return [...text.match(/[^]{1,200}/g), "and the clock is wound at seven [1]."];
}

const model = await startSlowModel(longAnswer(), PIECE_MS);
const stack = await startStack(model.settings);
const browser = await startBrowser();

/** Records tasks over 50 ms, and the time from each key press to its paint. */
const observe = (page) =>
  page.addInitScript(() => {
    window.long = [];
    window.keys = [];
    new PerformanceObserver((list) => window.long.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask", buffered: true });
    new PerformanceObserver((list) => window.keys.push(...list.getEntries().filter((e) => e.name === "keydown").map((e) => e.duration))).observe({ type: "event", durationThreshold: 16, buffered: true });
  });

const noted = (page) =>
  page.evaluate(() => {
    const { long, keys } = window;
    window.long = [];
    window.keys = [];
    return { long, keys };
  });

async function inPage(work) {
  const { page, context } = await newPage(browser, stack.url);
  try {
    await observe(page);
    return await work(page, context);
  } finally {
    await context.close();
  }
}

/** Mocks a conversation of n messages. New messages go to the real server. */
async function openThread(page, n) {
  const id = crypto.randomUUID();
  const messages = [];
  for (let i = 0; i < n / 2; i++) {
    messages.push(
      { id: `u${i}`, role: "user", metadata: { turn_id: `t${i}` }, parts: [{ type: "text", text: `Question ${i}: ${"what about this ".repeat(1 + (i % 5))}?` }] },
      { id: `t${i}`, role: "assistant", metadata: { turn_id: `t${i}`, finished_reason: "stop" }, parts: [{ type: "text", state: "done", text: `Answer ${i}.\n\n- one\n- two **bold** \`code\`\n\n${"Some words that fill a line. ".repeat(3 + (i % 9))}` }] },
    );
  }
  const last = messages.at(-1).metadata.turn_id;
  await page.route(`**/api/ui/chat/${id}?*`, (route) => route.fulfill({ json: { id, messages, more: false } }));
  await page.route(`**/api/chat/history/${id}?*`, (route) => route.fulfill({ json: { thread_id: id, messages: [{ turn_id: last }], pending_interrupt: null, active_turn: null, branches: {} } }));
  await page.route(`**/api/chat/stream/${id}?*`, () => {}); // no events from other pages
  await page.route(`**/api/conversations/${id}`, (route) => route.fulfill({ json: { id, title: "Pretended", created_at: new Date().toISOString() } }));
  const began = performance.now();
  await page.goto(`/chat/${id}`);
  await conversation(page).getByText(`Answer ${n / 2 - 1}.`).waitFor();
  return performance.now() - began;
}

/** Opens the welcome page with an empty cache, then again with a full one. */
const opening = () =>
  inPage(async (page) => {
    const open = async () => {
      await page.goto("/");
      await composer(page).waitFor();
      return page.evaluate(() => ({ ms: performance.now(), kB: performance.getEntriesByType("resource").filter((e) => /\.js$/.test(e.name)).reduce((n, e) => n + e.encodedBodySize, 0) / 1000 }));
    };
    const cold = await open();
    return { cold: cold.ms, warm: (await open()).ms, kB: cold.kB };
  });

const scrolling = (n) =>
  inPage(async (page) => {
    const opened = await openThread(page, n);
    await noted(page);
    await conversation(page).hover();
    for (let i = 0; i < 30; i++) {
      await page.mouse.wheel(0, -2500);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    return { opened, ...(await noted(page)) };
  });

/** Types a sentence, key by key, while an answer of 20,000 tokens is written, or at rest. */
const typing = (n, writing) =>
  inPage(async (page) => {
    await page.goto("/");
    await addDocument(page, "Lighthouse notes", "The lighthouse keeper winds the clock at seven.");
    await openThread(page, n);
    const words = "the quick brown fox jumps over the lazy dog ";
    if (writing) {
      await composer(page).fill("When does the lighthouse keeper wind the clock?");
      await composer(page).press("Enter");
      await conversation(page).getByRole("heading", { name: "Part 3", exact: true }).waitFor();
    }
    await noted(page);
    const began = performance.now();
    await composer(page).pressSequentially(words, { delay: 20 });
    if (writing) await conversation(page).getByText("the clock is wound at seven").waitFor({ timeout: 300_000 });
    const took = performance.now() - began;
    return { took, ...(await noted(page)) };
  });

const cases = { short: [], long: [], rest: [], writing: [], writingLong: [], opening: [] };
try {
  await inPage((page) => openThread(page, SHORT)); // warms the server up
  for (let round = 1; round <= ROUNDS; round++) {
    cases.opening.push(await opening());
    cases.short.push(await scrolling(SHORT));
    cases.long.push(await scrolling(LONG));
    cases.rest.push(await typing(SHORT, false));
    cases.writing.push(await typing(SHORT, true));
    cases.writingLong.push(await typing(LONG, true));
    console.error(`round ${round} of ${ROUNDS}`);
  }
} finally {
  await browser.close();
  await stack.stop();
  await model.stop();
}

const all = (name, field) => cases[name].flatMap((r) => r[field]);
const tasks = (name) => {
  const long = all(name, "long");
  return `${(long.length / ROUNDS).toFixed(1)} a round, ${Math.round(sum(long) / ROUNDS)} ms of them, the longest ${Math.round(Math.max(0, ...long))} ms`;
};
const ratio = (a, b) => (a / b).toFixed(2);

const cold = median(all("opening", "cold"));
const warm = median(all("opening", "warm"));
console.log(`JavaScript before typing   ${all("opening", "kB")[0].toFixed(0)} kB (gzip)`);
console.log(`can be typed after         ${Math.round(cold)} ms with an empty cache, ${Math.round(warm)} ms with a full one (${ratio(warm, cold)})`);
const [few, many] = [median(all("short", "opened")), median(all("long", "opened"))];
console.log(`a thread is there after    ${Math.round(few)} ms with ${SHORT} messages, ${Math.round(many)} ms with ${LONG} (${ratio(many, few)})`);
console.log(`long tasks, scrolling      ${SHORT} messages: ${tasks("short")}`);
console.log(`                           ${LONG} messages: ${tasks("long")}`);
console.log(`long tasks, 20,000 tokens  in ${SHORT} messages: ${tasks("writing")} in ${(median(all("writing", "took")) / 1000).toFixed(1)} s`);
console.log(`                           in ${LONG} messages: ${tasks("writingLong")} in ${(median(all("writingLong", "took")) / 1000).toFixed(1)} s`);
const key = (name) => `p50 ${Math.round(at(all(name, "keys"), 0.5))}, p95 ${Math.round(at(all(name, "keys"), 0.95))} ms`;
console.log(`a key is on the screen     at rest ${key("rest")}; while 20,000 tokens are written ${key("writing")}; in ${LONG} messages ${key("writingLong")}`);
