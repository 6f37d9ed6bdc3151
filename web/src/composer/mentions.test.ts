import { describe, expect, it } from "vitest";
import type { Doc, DocSet } from "../api/types";
import { groupsOf, mentionables, step } from "./mentions";

const document = (id: string, title: string, status: Doc["status"] = "ready"): Doc => ({ id, title, status, source_type: "upload", format: "txt", bytes: 1, chunks: 1, public: false });
const docs = [document("d1", "Remote work policy"), document("d2", "Work safety"), document("d3", "Broken", "failed"), document("d4", "New", "processing")];
const sets: DocSet[] = [{ id: "s1", name: "Work things", doc_ids: ["d1", "d2"] }];
const all = mentionables(docs, sets, true);
const labels = (query: string, used: string[] = []) => groupsOf(all, query, new Set(used) as never).map((g) => [g.name, ...g.items.map((i) => i.label)]);

describe("what can be mentioned", () => {
  it("is grouped: documents, sets, actions, web search", () => {
    expect(labels("")).toEqual([
      ["Documents", "Remote work policy", "Work safety", "New"],
      ["Sets", "Work things"],
      ["Actions", "Summarize", "Ask a question", "Compare", "Check against rules"],
      ["Web", "Web search"],
    ]);
  });

  it("is found by every word of the query; matches at the start come first", () => {
    expect(labels("work")).toEqual([["Documents", "Work safety", "Remote work policy"], ["Sets", "Work things"]]);
    expect(labels("policy remote")).toEqual([["Documents", "Remote work policy"]]);
    expect(labels("nothing like it")).toEqual([]);
  });

  it("finds a document by the name of its file", () => {
    const named = mentionables([{ ...document("d5", "Leave rules"), name: "scan_17" }], [], true);
    expect(groupsOf(named, "scan", new Set()).flatMap((g) => g.items.map((i) => i.label))).toEqual(["Leave rules"]);
  });

  it("leaves out actions and web search if the message has one, and documents that failed", () => {
    expect(labels("", ["action", "web"]).map(([name]) => name)).toEqual(["Documents", "Sets"]);
    expect(labels("broken")).toEqual([]);
  });

  it("says when a group has more", () => {
    const many = mentionables(Array.from({ length: 7 }, (_, i) => document(`m${i}`, `Minutes ${i}`)), sets, true);
    expect(groupsOf(many, "", new Set()).map((g) => [g.name, g.items.length, g.more])).toEqual([["Documents", 6, true], ["Sets", 1, false], ["Actions", 4, false], ["Web", 1, false]]);
    expect(groupsOf(many, "minutes 6", new Set()).map((g) => g.more)).toEqual([false]);
  });

  it("shows web search as disabled when it is not configured", () => {
    const [web] = groupsOf(mentionables([], [], false), "web", new Set());
    expect(web?.items).toMatchObject([{ label: "Web search", disabled: true, note: "not set up" }]);
  });
});

describe("the arrow keys", () => {
  const item = (id: string, disabled = false) => ({ category: "document" as const, id, label: id, disabled });

  it("wrap around and skip disabled entries", () => {
    const items = [item("a"), item("b", true), item("c")];
    expect([step(items, 0, 1), step(items, 2, 1), step(items, 0, -1)]).toEqual([2, 0, 2]);
    expect(step(items, -1, 1)).toBe(0);
  });

  it("select nothing in a list without enabled entries", () => {
    expect([step([], 0, 1), step([item("a", true)], -1, 1)]).toEqual([-1, -1]);
  });
});
