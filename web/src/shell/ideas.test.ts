// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Doc } from "../api/types";
import { textOf } from "../composer/outgoing";
import { headingsOf, ideasFor, sourcesOf } from "./ideas";

const doc = (id: string, title: string, more: Partial<Doc> = {}): Doc => ({ id, title, status: "ready", source_type: "upload", format: "md", bytes: 10, chunks: 1, public: false, ...more });

describe("suggestions for a new chat", () => {
  it("use headings without their numbers, and without the title", () => {
    expect(headingsOf("# Leave Policy\n\n## 2.1 Annual leave\n# **Carry-over** #\n## ab\nno # heading\n## Annual leave\n", "Leave policy")).toEqual(["Annual leave", "Carry-over"]);
  });

  it("ask about the documents in turn, with a mention; there are at most three", () => {
    const docs = [doc("a", "Leave"), doc("b", "Travel")];
    const texts = new Map([["a", "# Annual leave\n# Sick leave\n# Unpaid leave"], ["b", "# By train"]]);
    const ideas = ideasFor(docs, texts);
    expect(ideas.map((i) => i.label)).toEqual(["What does Leave say about “Annual leave”?", "What does Travel say about “By train”?", "What does Leave say about “Sick leave”?"]);
    expect(textOf(ideas[0]!.doc)).toBe("What does @Leave say about “Annual leave”?");
  });

  it("compare and summarize if there are no headings", () => {
    expect(ideasFor([doc("a", "Policy 2024", { public: true }), doc("b", "Policy 2025")], new Map()).map((i) => [i.label, i.shared])).toEqual([["Compare Policy 2024 and Policy 2025", true], ["Summarize Policy 2024", true]]);
    expect(ideasFor([], new Map())).toEqual([]);
  });

  it("are about the user's newest documents; about shared ones only if the user has none", () => {
    const all = [doc("p", "Public", { public: true, created_at: "2026-03" }), doc("o", "Old", { created_at: "2026-01" }), doc("n", "New", { created_at: "2026-02" }), doc("x", "Unread", { status: "processing" })];
    expect(sourcesOf(all).map((d) => d.id)).toEqual(["n", "o"]);
    expect(sourcesOf(all.filter((d) => d.id === "p" || d.id === "x")).map((d) => d.id)).toEqual(["p"]);
  });
});
