// The stack and the browser of a file of tests, which is a process of its own.
import { after, before } from "node:test";
import { startBrowser } from "./browser.mjs";
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
