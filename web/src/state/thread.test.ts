import { describe, expect, it } from "vitest";
import type { SubmitBody, TurnEvent } from "../api/types";
import { emptyThread, reduce, type Change, type Thread } from "./thread";

const body: SubmitBody = { thread_id: "th", client_turn_id: "c1", message: "hello" };
const ev = (event: TurnEvent): Change => ({ type: "event", event });
const after = (...changes: Change[]): Thread => changes.reduce(reduce, emptyThread);
const started: Change[] = [{ type: "sent", body }, { type: "opened", turnId: "t1" }];
const said = (t: Thread) => t.messages.map((m) => `${m.role}: ${m.content}`);
const ask: TurnEvent = { type: "interrupt", interrupt_id: "i1", interrupt_type: "action_choice", message: "Which?", options: [{ id: "audit", label: "Audit" }], turn_id: "t1" };

describe("a turn", () => {
  it("shows the message at once, then statuses, then the growing answer", () => {
    const t = after(...started, ev({ type: "status", node: "inquire", message: "Researching..." }), ev({ type: "token", content: "An " }), ev({ type: "token", content: "answer" }));
    expect(said(t)).toEqual(["user: hello"]);
    expect(t.live).toMatchObject({ turnId: "t1", text: "An answer", statuses: [{ node: "inquire", message: "Researching..." }] });
  });

  it("keeps one line for a node that reports twice, with the documents it found", () => {
    const docs = [{ id: "d", title: "Policy" }];
    const t = after(...started, ev({ type: "status", node: "doc_resolver", message: "Finding..." }), ev({ type: "status", node: "doc_resolver", message: "Finding...", docs_found: docs }), ev({ type: "status", node: "inquire", message: "Researching..." }));
    expect(t.live?.statuses.map((s) => s.node)).toEqual(["doc_resolver", "inquire"]);
    expect(t.live?.docs).toEqual(docs);
  });

  it("ends with the response, which wins over the tokens", () => {
    const t = after(...started, ev({ type: "token", content: "dra" }), ev({ type: "response", response: "final [1]", citations: null, tokens_used: 5, cost_usd: 0, turn_id: "t1" }));
    expect(said(t)).toEqual(["user: hello", "assistant: final [1]"]);
    expect(t.messages[1]?.metadata).toMatchObject({ citations: [], tokens_used: 5 });
    expect(t.live).toBeNull();
  });

  it("begins the answer anew after a restart notice, and says so once", () => {
    const restarted = ev({ type: "notice", code: "restarted", message: "Written again." });
    const t = after(...started, ev({ type: "token", content: "old" }), restarted, ev({ type: "token", content: "new" }), restarted);
    expect(t.live?.text).toBe("");
    expect(said(t)).toEqual(["user: hello", "system: Written again."]);
  });

  it("keeps a partial answer when it is stopped, marked as interrupted", () => {
    const t = after(...started, ev({ type: "token", content: "par" }), ev({ type: "cancelled", reason: "user_cancelled", partial: "part", turn_id: "t1" }));
    expect(t.messages[1]).toMatchObject({ role: "assistant", content: "part", metadata: { interrupted: true } });
  });

  it("leaves a quiet line when it is stopped before a word", () => {
    expect(said(after(...started, ev({ type: "cancelled", reason: "user_cancelled", partial: "", turn_id: "t1" })))).toEqual(["user: hello", "system: Stopped."]);
  });

  it("is talked over: the partial stays and the new message follows", () => {
    const t = after(...started, ev({ type: "token", content: "par" }), { type: "sent", body: { ...body, client_turn_id: "c2", message: "no, this" } });
    expect(said(t)).toEqual(["user: hello", "assistant: par", "user: no, this"]);
    expect(t.live).toMatchObject({ clientTurnId: "c2", text: "" });
  });

  it.each([
    [true, "new"],
    [false, undefined],
  ])("fails in plain words (retryable %s)", (retryable, retry) => {
    const t = after(...started, ev({ type: "error", message: "No answer.", code: "model_unavailable", retryable, turn_id: "t1" }));
    expect(t.problem).toEqual(retry ? { message: "No answer.", retry } : { message: "No answer." });
    expect(t.live).toBeNull();
  });

  it("passes over an event it does not know", () => {
    const t = after(...started);
    expect(reduce(t, ev({ type: "later" } as unknown as TurnEvent))).toBe(t);
  });
});

describe("a question", () => {
  const asked = [...started, ev({ type: "status", node: "intent_resolver", message: "Clarifying..." }), ev(ask)];

  it("clears the statuses and stays in the conversation", () => {
    const t = after(...asked);
    expect(t.interrupt).toMatchObject({ interrupt_id: "i1" });
    expect(t.live?.statuses).toEqual([]);
    expect(said(t)).toEqual(["user: hello", "system: Which?"]);
  });

  it("is shown once, though a replay repeats it", () => expect(said(after(...asked, ev(ask)))).toEqual(["user: hello", "system: Which?"]));

  it("is answered: the choice stands below it and the turn goes on", () => {
    const t = after(...asked, { type: "answered", label: "Audit" }, ev({ type: "status", node: "audit", message: "Auditing..." }));
    expect(said(t)).toEqual(["user: hello", "system: Which?", "user: Audit"]);
    expect(t.interrupt).toBeNull();
    expect(t.live?.turnId).toBe("t1");
  });

  it("goes away when it was answered from a shell", () => expect(after(...asked, ev({ type: "status", node: "audit", message: "Auditing..." })).interrupt).toBeNull());

  it("stays when a notice says that an answer was ignored", () =>
    expect(after(...asked, ev({ type: "notice", code: "resume_ignored", message: "Ignored." })).interrupt?.interrupt_id).toBe("i1"));

  it("comes back when the server refuses the answer", () => {
    const t = after(...asked, { type: "answered", label: "Audit" }, { type: "refused", interrupt: ask, problem: { message: "No." } });
    expect(t.interrupt?.interrupt_id).toBe("i1");
    expect(t.problem?.message).toBe("No.");
  });

  it("is restored from the history, with its turn", () => {
    const history = { thread_id: "th", messages: [{ id: "m", role: "user" as const, content: "hello" }], pending_interrupt: ask, active_turn: { turn_id: "t1", status: "interrupted" } };
    const t = after({ type: "show", id: "th" }, { type: "loaded", history });
    expect(t).toMatchObject({ load: "ready", interrupt: { interrupt_id: "i1" }, live: { turnId: "t1" } });
    expect(said(reduce(t, { type: "answered", label: "Audit" }))).toEqual(["user: hello", "system: Which?", "user: Audit"]);
  });
});
