// What a file of tests has in common, which is a process of its own: its stack, its
// browser, and the page that a test is about.
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { desktop, newPage, shot, startBrowser } from "./browser.mjs";
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
 * Starts stack and browser before the tests of a file or suite, and ends them
 * after. prepare gives the settings; without: the offline engine. (The hooks of a
 * file begin together, so what comes before the stack is its to start.)
 */
export function useStack(prepare) {
  before(async () => {
    [stack, browser] = await Promise.all([begin(prepare), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });
}

/** As useStack, with a model that writes these pieces, so many ms apart. */
export function useSlowModel(pieces, stepMs, prepare) {
  useStack(async () => {
    model = await startSlowModel(pieces, stepMs);
    return { ...model.settings, ...(await prepare?.()) };
  });
  after(() => model?.stop());
}

/** Another stack beside the file's, with a slow model: it has stack and model as soon as the tests begin. */
export function useSecondStack(pieces, stepMs) {
  const second = {};
  before(async () => {
    second.model = await startSlowModel(pieces, stepMs);
    second.stack = await startStack(second.model.settings);
  });
  after(async () => {
    await second.stack?.stop();
    await second.model?.stop();
  });
  return second;
}

/** A new person, who has opened no page yet; the one before has gone. */
export async function arrive(look = desktop, url = stack.url) {
  await leave();
  ({ page, context, faults } = await newPage(browser, url, look));
}

/** The person of the page goes. */
export async function leave() {
  await context?.close();
  context = undefined;
}

/** No test leaves a fault on its page; of one that fails there is a picture. */
export function leaveNoFaults() {
  afterEach(async (t) => {
    if (t.error || t.passed === false) await shot(page, `failed-${t.name.replaceAll(/\W+/g, "-").slice(0, 60)}`);
    await leave();
    assert.deepEqual(faults, []);
  });
}
