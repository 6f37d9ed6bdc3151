// The stacks that the clients' tests use.
import { after, before } from "node:test";
import { startStack } from "../stack.mjs";
import { startModel } from "./model.mjs";

export let offline; // with the offline engine
export let scripted; // with a scripted model
export let model;

/** Starts both before the tests of a file, and stops them after. */
export function useStacks() {
  before(async () => {
    model = await startModel();
    [offline, scripted] = await Promise.all([
      startStack({}),
      startStack({ LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "scripted" }),
    ]);
  });
  after(async () => {
    await Promise.all([offline?.stop(), scripted?.stop()]);
    await model?.stop();
  });
}
