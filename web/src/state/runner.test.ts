import { describe, expect, it } from "vitest";
import { ApiError } from "../api/http";
import type { EventStream } from "../api/stream";
import type { History, ResumeBody, SubmitBody, TurnEvent } from "../api/types";
import { Runner, type Api } from "./runner";
import type { Change } from "./thread";

const body: SubmitBody = { thread_id: "th", client_turn_id: "c1", message: "hello" };
const token = (n: number): TurnEvent => ({ type: "token", content: `${n}`, event_id: `t1.${n}` });
const done: TurnEvent = { type: "response", response: "all", turn_id: "t1", event_id: "t1.9" };
const ask: TurnEvent & { type: "interrupt" } = { type: "interrupt", interrupt_id: "i1", interrupt_type: "action_choice", message: "Which?", turn_id: "t1", event_id: "t1.2" };
const idle: History = { thread_id: "th", messages: [], pending_interrupt: null, active_turn: null };
const cut = new ApiError(0, "cut", "cut");

type Step = { events: TurnEvent[]; then?: Error } | { refuse: Error } | null;

function stream(step: Step): Promise<EventStream | null> {
  if (!step) return Promise.resolve(null);
  if ("refuse" in step) return Promise.reject(step.refuse);
  async function* events(): AsyncGenerator<TurnEvent> {
    if (!step || "refuse" in step) return;
    yield* step.events;
    if (step.then) throw step.then;
  }
  return Promise.resolve({ turnId: "t1", events: events() });
}

/** A server that plays its steps in order and writes down what it was asked. */
function server(steps: Step[], histories: History[] = [idle]) {
  const calls: string[] = [];
  const changes: Change[] = [];
  const next = () => {
    const step = steps.shift();
    if (step === undefined) throw new Error(`a call too many: ${calls.join(", ")}`);
    return stream(step);
  };
  const api: Api = {
    submit: (b: SubmitBody) => (calls.push(`submit ${b.client_turn_id}`), next()),
    resume: (b: ResumeBody) => (calls.push(`resume ${b.resume_value.value}`), next()),
    attach: (_, turn, after) => (calls.push(`attach ${turn} after ${after ?? "the beginning"}`), next()),
    history: () => (calls.push("history"), Promise.resolve(histories.length > 1 ? histories.shift()! : histories[0]!)),
  };
  const runner = new Runner((c) => changes.push(c), api, [1, 1], () => Promise.resolve());
  const seen = () => changes.map((c) => (c.type === "event" ? (c.event.event_id ?? c.event.type) : c.type));
  return { runner, calls, changes, seen };
}

describe("Runner", () => {
  it("follows a turn to its end", async () => {
    const s = server([{ events: [token(1), done] }]);
    await s.runner.submit(body);
    expect(s.calls).toEqual(["submit c1"]);
    expect(s.seen()).toEqual(["opened", "t1.1", "t1.9"]);
  });

  it.each([
    ["breaks", cut],
    ["ends without a terminal event", undefined],
  ])("re-attaches after the last event seen when the stream %s", async (_, then) => {
    const s = server([{ events: [token(1), token(2)], ...(then && { then }) }, { events: [done] }]);
    await s.runner.submit(body);
    expect(s.calls).toEqual(["submit c1", "attach t1 after t1.2"]);
    expect(s.seen()).toEqual(["opened", "t1.1", "t1.2", "cut", "opened", "t1.9"]);
  });

  it("sends the same client_turn_id again when the first send may or may not have arrived", async () => {
    const s = server([{ refuse: cut }, { events: [done] }]);
    await s.runner.submit(body);
    expect(s.calls).toEqual(["submit c1", "submit c1"]);
  });

  it("gives up after its tries and leaves the choice to the person", async () => {
    const s = server([{ events: [token(1)], then: cut }, { refuse: cut }, { refuse: cut }]);
    await s.runner.submit(body);
    expect(s.changes.at(-1)).toMatchObject({ type: "lost", problem: { retry: "reload" } });
    const unsent = server([{ refuse: cut }, { refuse: cut }, { refuse: cut }]);
    await unsent.runner.submit(body);
    expect(unsent.changes.at(-1)).toMatchObject({ type: "lost", problem: { retry: "same" } });
  });

  it("tells a refusal at once", async () => {
    const s = server([{ refuse: new ApiError(429, "rate_limited", "Too fast.") }]);
    await s.runner.submit(body);
    expect(s.changes).toEqual([{ type: "refused", problem: { message: "Too fast.", retry: "same" } }]);
  });

  it("keeps watching a question, so that an answer given elsewhere shows", async () => {
    const s = server([{ events: [ask] }, { events: [token(3), done] }]);
    await s.runner.submit(body);
    expect(s.calls).toEqual(["submit c1", "attach t1 after t1.2"]);
    expect(s.seen()).not.toContain("cut");
  });

  it("reads the history when there is nothing left to follow", async () => {
    const s = server([{ events: [token(1)] }, null]);
    await s.runner.submit(body);
    expect(s.calls.at(-1)).toBe("history");
    expect(s.changes.at(-1)).toEqual({ type: "loaded", history: idle });
  });

  it("after a reload re-attaches from the beginning of the running turn", async () => {
    const s = server([{ events: [token(1), done] }], [{ ...idle, active_turn: { turn_id: "t1", status: "running" } }]);
    await s.runner.load("th");
    expect(s.calls).toEqual(["history", "attach t1 after the beginning"]);
    expect(s.seen()).toEqual(["loaded", "opened", "t1.1", "t1.9"]);
  });

  it("does not replay over a question that the history has restored", async () => {
    const waiting = { ...idle, pending_interrupt: ask, active_turn: { turn_id: "t1", status: "interrupted" } };
    const s = server([{ events: [token(1), ask, token(3), done] }], [waiting]);
    await s.runner.load("th");
    expect(s.seen()).toEqual(["loaded", "opened", "t1.3", "t1.9"]);
  });

  it("asks the history what became of an answer whose connection failed", async () => {
    const s = server([{ refuse: cut }, { events: [done] }], [{ ...idle, pending_interrupt: ask, active_turn: { turn_id: "t1", status: "interrupted" } }]);
    await s.runner.resume({ thread_id: "th", interrupt_id: "i1", resume_value: { type: "action_choice", value: "audit" } }, ask);
    expect(s.calls).toEqual(["resume audit", "history", "attach t1 after the beginning"]);
  });

  it("puts the question back when its answer was invalid", async () => {
    const s = server([{ refuse: new ApiError(400, "invalid_resume_value", "No option.") }, { events: [ask, done] }]);
    await s.runner.resume({ thread_id: "th", interrupt_id: "i1", resume_value: { type: "action_choice", value: "x" } }, ask);
    expect(s.changes[0]).toMatchObject({ type: "refused", interrupt: { interrupt_id: "i1" }, problem: { message: "No option." } });
  });

  it("shows an unknown conversation as missing", async () => {
    const s = server([]);
    const missing = new Runner((c) => s.changes.push(c), { ...noApi, history: () => Promise.reject(new ApiError(404, "not_found", "none")) }, []);
    await missing.load("th");
    expect(s.changes).toEqual([{ type: "missing" }]);
  });

  it("says nothing more once it has let go", async () => {
    const s = server([{ events: [token(1), token(2), done] }]);
    const running = s.runner.submit(body);
    s.runner.detach();
    await running;
    expect(s.changes).toEqual([]);
  });
});

const never = () => Promise.reject(new Error("not expected"));
const noApi: Api = { submit: never, resume: never, attach: never, history: never };
