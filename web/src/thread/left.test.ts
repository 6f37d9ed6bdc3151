// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { noteAsked, skipLeft } from "./left";
import type { Question } from "./types";

const question = (id: string, type: Question["interrupt_type"] = "doc_choice"): Question => ({ interrupt_id: id, interrupt_type: type, message: "Which document?", turn_id: "t" }) as Question;

let sent: { path: string; body: unknown }[];
let status: number;

beforeEach(() => {
  sessionStorage.clear();
  sent = [];
  status = 200;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    sent.push({ path, body: JSON.parse(String(init.body)) });
    return new Response("{}", { status });
  });
});
afterEach(() => vi.unstubAllGlobals());

it("skips a question that was left, once, with the next message in another thread", async () => {
  noteAsked("a", question("q1"));
  expect(await skipLeft("a")).toBe(false); // a message in the thread itself replaces the question
  expect(await skipLeft("b")).toBe(true);
  expect(sent).toEqual([{ path: "/api/chat/resume", body: { thread_id: "a", interrupt_id: "q1", resume_value: { type: "cancel", value: "superseded" } } }]);
  expect(await skipLeft("b")).toBe(false);
});

it("skips neither an answered question nor an approval", async () => {
  noteAsked("a", question("q1"));
  noteAsked("a", null);
  noteAsked("c", question("q2", "tool_approval"));
  expect(await skipLeft("b")).toBe(false);
  expect(sent).toEqual([]);
});

it("accepts that the question was answered elsewhere", async () => {
  noteAsked("a", question("q1"));
  status = 400;
  expect(await skipLeft("b")).toBe(true);
  expect(await skipLeft("b")).toBe(false);
});
