// The shared setup of a test file, which runs in its own process: a stack, a browser and
// the page under test.
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { desktop, newPage, screenshot, startBrowser } from "./browser.mjs";
import { startSlowModel } from "./slow-model.mjs";
import { startStack } from "./stack.mjs";

export let stack;
export let browser;
export let model;
export let page;
export let context;
export let faults;

const begin = async (prepare) => startStack(await prepare?.());

/**
 * Starts stack and browser before the tests of a file or suite, and stops them
 * afterwards. prepare returns the settings; without it the stack uses the offline
 * engine. (The before hooks of a file run concurrently, so servers that the stack
 * needs must be started in prepare.)
 */
export function useStack(prepare) {
  before(async () => {
    // Both are awaited, so that what has started is stopped when the other one fails.
    const started = await Promise.allSettled([begin(prepare), startBrowser()]);
    [stack, browser] = started.map((s) => s.value);
    const failed = started.find((s) => s.status === "rejected");
    if (failed) throw failed.reason;
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });
}

/** Like useStack, with a model that sends these pieces, stepMs apart. */
export function useSlowModel(pieces, stepMs, prepare) {
  useStack(async () => {
    model = await startSlowModel(pieces, stepMs);
    return { ...model.settings, ...(await prepare?.()) };
  });
  after(() => model?.stop());
}

/** Starts a second stack with a slow model and further settings before the tests. Returns an object whose fields stack and model are set then. */
export function useSecondStack(pieces, stepMs, settings = {}) {
  const second = {};
  before(async () => {
    second.model = await startSlowModel(pieces, stepMs);
    second.stack = await startStack({ ...second.model.settings, ...settings });
  });
  after(async () => {
    await second.stack?.stop();
    await second.model?.stop();
  });
  return second;
}

/** Starts a new user without an open page and closes the previous one. */
export async function arrive(look = desktop, url = stack.url) {
  await leave();
  ({ page, context, faults } = await newPage(browser, url, look));
}

/** Closes the user's page. */
export async function leave() {
  await context?.close();
  context = undefined;
}

/** Fails tests whose page had faults, and takes a screenshot of failed tests. */
export function leaveNoFaults() {
  afterEach(async (t) => {
    if (t.error || t.passed === false) await screenshot(page, `failed-${t.name.replaceAll(/\W+/g, "-").slice(0, 60)}`);
    await leave();
    assert.deepEqual(faults, []);
  });
}
