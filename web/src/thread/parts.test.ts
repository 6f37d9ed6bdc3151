import { describe, expect, it } from "vitest";
import { docOf, mentionNode } from "../composer/outgoing";
import { adopt, answered, answerText, attachmentsOf, citationsOf, documentOf, endedByQuestion, oncePerNotice, ownPicture, pendingQuestion, picturesOf, isWithdrawn, saidByCards, textOf, toolMessages, turnAt, unanswered, withSources } from "./parts";
import type { Decision, Message, Metadata, Part, Question } from "./types";

const question: Question = { interrupt_id: "t1.q1", interrupt_type: "action_choice", message: "Which?", options: [{ id: "audit", label: "Audit" }], turn_id: "t1", answered: false };
const user = (id: string, metadata: Metadata = {}): Message => ({ id, role: "user", metadata, parts: [{ type: "text", text: id }] });
const answer = (turn: string, metadata: Metadata = {}, parts: Message["parts"] = []): Message => ({ id: turn, role: "assistant", metadata: { turn_id: turn, ...metadata }, parts });
const asks = answer("t1", { finished_reason: "interrupted" }, [{ type: "data-interrupt", id: "t1.q1", data: question }]);

describe("pendingQuestion", () => {
  it("is the open question of the last answer", () => expect(pendingQuestion([user("u"), asks])).toEqual(question));
  it("is null when it was answered here", () => expect(pendingQuestion(answered([user("u"), asks], "t1.q1", { type: "action_choice", value: "audit" }))).toBeNull());
  it("is restored when the answer was rejected", () => expect(pendingQuestion(unanswered(answered([asks], "t1.q1", undefined), "t1.q1"))).toEqual({ ...question, answer: undefined }));
  it("is null when its turn has ended", () => expect(pendingQuestion([{ ...asks, metadata: { turn_id: "t1", finished_reason: "cancelled" } }])).toBeNull());
  it("is null when a message follows", () => expect(pendingQuestion([asks, user("u2")])).toBeNull());
});

describe("answered", () => {
  it("records the decision about each tool call, and reverts it", () => {
    const call = (id: string): Message["parts"][number] => ({ type: "tool-draw", toolCallId: id, state: "approval-requested", input: {}, approval: { id: `t1.q1.${id}` } });
    const before = [answer("t1", { finished_reason: "interrupted" }, [call("c1"), call("c2"), { type: "data-interrupt", id: "t1.q1", data: { ...question, tool_calls: [{ id: "c2", name: "draw", arguments: {}, editable: true }] } }])];
    const after = answered(before, "t1.q1", { type: "tool_approval", value: null, decisions: [{ id: "c1", decision: "rejected", reason: "no cats" }, { id: "c2", decision: "approved", arguments: { prompt: "a big dog" } }] });
    expect(after[0]?.parts.slice(0, 2)).toMatchObject([
      { state: "approval-responded", approval: { id: "t1.q1.c1", approved: false, reason: "no cats" } },
      { state: "approval-responded", input: { prompt: "a big dog" }, approval: { id: "t1.q1.c2", approved: true } },
    ]);
    expect(unanswered(after, "t1.q1")[0]?.parts.slice(0, 2)).toEqual(before[0]?.parts.slice(0, 2));
  });
});

describe("toolMessages", () => {
  it("are by tool call, and the same map for all messages without any", () => {
    const said = { tool_call_id: "c1", message_code: "tool.failed" };
    expect([...toolMessages(answer("t1", {}, [{ type: "data-tool-message", data: said } as Part]))]).toEqual([["c1", said]]);
    expect(toolMessages(answer("t1", {}, [{ type: "text", text: "a" }]))).toBe(toolMessages(answer("t1", {}, [{ type: "text", text: "a b" }])));
  });
});

describe("answerText", () => {
  const said = (answer: Question["answer"], over: Partial<Question> = {}) => answerText({ ...question, answered: true, answer, ...over });
  it("an option by its label", () => expect(said({ type: "action_choice", value: "audit" }, { options: [{ id: "audit", label: "Audit", message_code: "option.audit" }] })).toBe("Check against rules"));
  it("free text", () => expect(said({ type: "text_input", value: "the contract" }, { options: undefined })).toBe("the contract"));
  it("tags, by their names", () => {
    const doc = { type: "doc", content: [{ type: "paragraph", content: [mentionNode({ id: "d", label: "Lease", category: "document" }), { type: "text", text: " " }, mentionNode({ id: "s", label: "Rules", category: "set" })] }] };
    expect(said({ type: "text_input", value: null, tagged_doc_ids: ["d"], tagged_set_ids: ["s"], tiptap_json: doc })).toBe("Lease, Rules");
  });
  it("tags of another client", () => expect(said({ type: "text_input", value: null, tagged_doc_ids: ["d"] })).toBe("Documents chosen"));
  it("a cancel", () => expect(said({ type: "cancel", value: null })).toBe("Canceled"));
  it("decisions", () =>
    expect(said({ type: "tool_approval", value: null, decisions: [{ id: "1", decision: "approved" }, { id: "2", decision: "approved", arguments: {} }, { id: "3", decision: "rejected", reason: "no" }] })).toBe("Approved, Approved with changes, Rejected: no"));
});

describe("saidByCards", () => {
  const said = (decisions: Decision[], over: Partial<Question> = {}) => saidByCards({ ...question, interrupt_type: "tool_approval", answered: true, answer: { type: "tool_approval", value: null, decisions }, ...over });
  it("a decision without a change or a reason", () => expect(said([{ id: "1", decision: "approved" }, { id: "2", decision: "rejected" }])).toBe(true));
  it("not a change or a reason", () => {
    expect(said([{ id: "1", decision: "approved", arguments: { prompt: "a dog" } }])).toBe(false);
    expect(said([{ id: "1", decision: "rejected", reason: "no cats" }])).toBe(false);
  });
  it("not an open or a cancelled question, or one of another kind", () => {
    expect(said([], { answer: undefined })).toBe(false);
    expect(said([], { answer: { type: "cancel", value: null } })).toBe(false);
    expect(said([{ id: "1", decision: "approved" }], { interrupt_type: "action_choice" })).toBe(false);
  });
});

describe("endedByQuestion", () => {
  const ended = (answer: Question["answer"]) => endedByQuestion(answered([asks], "t1.q1", answer)[0]!);
  it("a cancelled question ends its turn", () => expect(ended({ type: "cancel", value: null })).toBe(true));
  it("an answer does not", () => expect(ended({ type: "action_choice", value: "audit" })).toBe(false));
  it("nor does a question that is open when the turn is stopped", () => expect(endedByQuestion(asks)).toBe(false));
});

it("a superseded text is left out", () => {
  const m = answer("t", {}, [
    { type: "text", text: "half", providerMetadata: { palaver: { superseded: true } } },
    { type: "text", text: "whole" },
  ]);
  expect(textOf(m)).toBe("whole");
});

it("only valid citations are read from sources", () => {
  const m = answer("t", {}, [
    { type: "source-document", sourceId: "s1", mediaType: "text/plain", title: "Rules", providerMetadata: { palaver: { n: 1, quote: "q", doc_id: "d", chunk_id: "c", start: 3, end: 4, page: 7 } } },
    { type: "source-url", sourceId: "s2", url: "https://e.org", title: "E", providerMetadata: { palaver: { n: 2, quote: "w" } } },
    { type: "source-document", sourceId: "s3", mediaType: "text/plain", title: "Forged" },
  ]);
  expect(citationsOf(m)).toEqual([
    { n: 1, source: "document", title: "Rules", quote: "q", doc_id: "d", chunk_id: "c", start: 3, end: 4, page: 7 },
    { n: 2, source: "web", title: "E", url: "https://e.org", quote: "w" },
  ]);
});

it.each([
  ["/api/attachments/abc-1", true],
  ["/api/attachments/../me", false],
  ["/api/attachments/..", false],
  ["https://evil.example/api/attachments/a", false],
  ["//evil.example/a", false],
  ["data:image/png;base64,xx", false],
  [undefined, false],
])("picture %s", (url, want) => expect(ownPicture(url)).toBe(want));

it("pictures from other hosts are not shown", () =>
  expect(picturesOf(answer("t", {}, [{ type: "file", url: "https://evil.example/x.png", mediaType: "image/png" }, { type: "file", url: "/api/attachments/1", mediaType: "image/*" }]))).toEqual([{ url: "/api/attachments/1", mime: "image/*" }]));

it("pictures of a message are kept when it is sent again", () => {
  const m: Message = { id: "m", role: "user", parts: [{ type: "file", url: "https://evil.example/a.png", mediaType: "image/png" }, { type: "file", url: "/api/attachments/p1", mediaType: "image/png" }] };
  expect(attachmentsOf(m)).toEqual([{ id: "p1", url: "/api/attachments/p1", mime: "image/png", name: "image 1" }]);
});

it("a message's TipTap document is used when its text matches the message", () => {
  const m = (text: string, tiptap_json?: unknown): Message => ({ id: "m", role: "user", metadata: { tiptap_json }, parts: [{ type: "text", text }] });
  expect(documentOf(m("One", docOf("One")))).toEqual(docOf("One"));
  expect([documentOf(m("One", docOf("Two"))), documentOf(m("One"))]).toEqual([null, null]);
});

it("a cancelled message is withdrawn only if its turn never began", () => {
  const m = (metadata: Metadata): Message => ({ id: "m", role: "assistant", metadata: { finished_reason: "cancelled", interrupted: true, ...metadata }, parts: [] });
  expect(isWithdrawn(m({ interrupted_reason: "user_cancelled", never_began: true }))).toBe(true);
  expect(isWithdrawn(m({ interrupted_reason: "user_cancelled" }))).toBe(false);
  expect(isWithdrawn(m({ interrupted_reason: "superseded", never_began: true }))).toBe(false);
});

it("a user message gets its turn from its answer", () => {
  const messages = [user("u1", { turn_id: "t0" }), answer("t0"), user("u2"), answer("t1"), user("u3")];
  expect(messages.map((_, i) => turnAt(messages, i))).toEqual(["t0", "t0", "t1", "t1", undefined]);
});

describe("adopt", () => {
  it("keeps the ids of shown messages", () => {
    const local = [user("mine", { client_turn_id: "c1", created_at: "2026-01-01" }), answer("t1")];
    const server = [user("t1:1", { turn_id: "t1" }), answer("t1", { finished_reason: "stop" }), user("t2:1", { turn_id: "t2" })];
    const got = adopt(local, server);
    expect(got.map((m) => m.id)).toEqual(["mine", "t1", "t2:1"]);
    expect(got[0]?.metadata).toMatchObject({ turn_id: "t1", created_at: "2026-01-01", client_turn_id: "c1" });
    expect(got[1]?.metadata?.finished_reason).toBe("stop");
  });
  it("matches a message without an answer by its client turn id", () => expect(adopt([user("mine", { client_turn_id: "c1" })], [user("t1:1", { turn_id: "t1", client_turn_id: "c1" })])[0]?.id).toBe("mine"));
});

describe("withSources", () => {
  const cite = (n: number, title: string, quote: string, url?: string) => ({ n, source: url ? ("web" as const) : ("document" as const), title, quote, ...(url && { url }) });
  it("adds the citations as footnotes, and keeps other brackets", () => {
    expect(withSources("Five days [1]. See [2] and [7].", [cite(1, "Leave Policy", "five\n days"), cite(2, "A page", "", "https://a.example/"), cite(3, "Unused", "x")])).toBe(
      "Five days [^1]. See [^2] and [7].\n\n[^1]: Leave Policy: “five days”\n[^2]: A page <https://a.example/>",
    );
    expect(withSources("Nothing cited.", [])).toBe("Nothing cited.");
    expect(withSources("A[^1] [1].\n\n[^1]: Own.", [cite(1, "Report", "q")])).toBe("A[^note-1] [^1].\n\n[^note-1]: Own.\n\n[^1]: Report: “q”");
    expect(withSources("It holds at all times here.", [], ["holds at all times"])).toBe("It holds at all times[^unverified] here.\n\n[^unverified]: Not found word for word in the passages");
    expect(withSources("A [1].", [{ ...cite(1, "Report", "q"), page: 12 }])).toBe("A [^1].\n\n[^1]: Report, page 12: “q”");
  });
});

it("a repeated notice is shown once, with its count", () => {
  const notice = (code: string): Part => ({ type: "data-notice", data: { code, message: "" } });
  const text: Part = { type: "text", text: "a" };
  expect(oncePerNotice([notice("restarted"), text, notice("restarted"), notice("other"), text]).map(({ part, times }) => [part.type === "data-notice" ? part.data.code : part.type, times])).toEqual([["restarted", 2], ["text", 1], ["other", 1], ["text", 1]]);
});
