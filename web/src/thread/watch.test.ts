import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ApiError } from "../api/http";
import type { EventStream } from "../api/stream";
import type { TurnEvent } from "../api/types";
import { Watch } from "./watch";

type Answer = TurnEvent[] | ApiError | "hang";

const changed = vi.fn();
const looked = vi.fn();
let answers: Answer[];
let signals: AbortSignal[];
let watch: Watch;

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  [answers, signals] = [[], []];
  watch = new Watch("t1", changed, open, [100, 200]);
});
afterEach(() => {
  watch.stop();
  vi.useRealTimers();
});

/** Answers in order, then stays silent. */
async function open(_: string, signal: AbortSignal): Promise<EventStream> {
  signals.push(signal);
  const answer = answers.shift() ?? "hang";
  if (answer instanceof ApiError) throw answer;
  async function* events() {
    if (answer === "hang") await new Promise((_, reject) => signal.addEventListener("abort", reject));
    else yield* answer as TurnEvent[];
  }
  return events();
}

const opened = () => signals.length;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const status: TurnEvent = { type: "status", node: "n", message: "m" };
const interrupt = (id: string): TurnEvent => ({ type: "interrupt", interrupt_id: id, interrupt_type: "text_input", message: "?" });

it("reports the first event, then ends", async () => {
  answers = [[status, status]];
  watch.start(undefined, looked);
  await pass(10_000);
  expect([looked.mock.calls.length, changed.mock.calls.length, opened()]).toEqual([1, 1, 1]);
});

it("ignores events before the open question", async () => {
  answers = [[status, interrupt("q1")]];
  watch.start("q1", looked);
  await pass(50);
  expect(changed).not.toHaveBeenCalled();
  answers = [[status, interrupt("q1"), status]];
  await pass(100);
  expect(changed).toHaveBeenCalledOnce();
});

it.each([400, 401, 403, 404, 410])("stops after a permanent error: %d", async (code) => {
  answers = [new ApiError(code, "", "")];
  watch.start(undefined, looked);
  await pass(60_000);
  expect(opened()).toBe(1);
});

it.each([0, 408, 429, 500, 502, 503])("reconnects after a transient error: %d", async (code) => {
  answers = [new ApiError(code, "", ""), new ApiError(code, "", ""), new ApiError(code, "", ""), [status]];
  watch.start(undefined, looked);
  await pass(100 + 200 + 200);
  expect([opened(), changed.mock.calls.length]).toEqual([4, 1]);
});

it("waits for the Retry-After of the server", async () => {
  answers = [new ApiError(429, "", "", 7), [status]];
  watch.start(undefined, looked);
  await pass(6_999);
  expect(opened()).toBe(1);
  await pass(1);
  expect(opened()).toBe(2);
});

it("removes its listeners from the signal on every reconnect", async () => {
  const added = vi.spyOn(AbortSignal.prototype, "addEventListener");
  const removed = vi.spyOn(AbortSignal.prototype, "removeEventListener");
  answers = Array.from({ length: 20 }, () => new ApiError(503, "", ""));
  watch.start(undefined, looked);
  await pass(100 + 20 * 200);
  expect(opened()).toBe(21);
  expect(added.mock.calls.length - removed.mock.calls.length).toBe(1); // one stream is open
  added.mockRestore();
  removed.mockRestore();
});

it("can be stopped while it waits", async () => {
  answers = [new ApiError(503, "", "")];
  watch.start(undefined, looked);
  await pass(50);
  watch.stop();
  await pass(10_000);
  expect(opened()).toBe(1);
});
