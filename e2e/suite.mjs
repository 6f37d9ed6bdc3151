// What a file of tests has in common, which is a process of its own: its stack, its
// browser, and the page that a test is about.
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { desktop, newPage, shot, startBrowser } from "./browser.mjs";
import { startStack } from "./stack.mjs";

export let stack;
export let browser;

/** Starts both before the tests of the file, and ends them after. Without settings: the offline engine. */
export function useStack(settings) {
  before(async () => {
    [stack, browser] = await Promise.all([startStack(settings), startBrowser()]);
  });
  after(async () => {
    await browser?.close();
    await stack?.stop();
  });
}

export let page;
export let context;
export let faults;

/** A new person, who has opened no page yet; the one before has gone. */
export async function arrive(look = desktop, url = stack.url) {
  await context?.close();
  ({ page, context, faults } = await newPage(browser, url, look));
}

/** No test leaves a fault on its page; of one that fails there is a picture. */
export function leaveNoFaults() {
  afterEach(async (t) => {
    if (t.error || t.passed === false) await shot(page, `failed-${t.name.replaceAll(/\W+/g, "-").slice(0, 60)}`);
    await context.close();
    context = undefined;
    assert.deepEqual(faults, []);
  });
}
