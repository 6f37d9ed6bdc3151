// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Citation, Doc } from "../api/types";
import { textOf } from "../composer/outgoing";
import { followUps } from "./followUps";

const doc = (id: string, title: string): Doc => ({ id, title, status: "ready", source_type: "upload", format: "md", bytes: 10, chunks: 1, public: false });
const cite = (doc_id: string, start: number): Citation => ({ n: 1, source: "document", doc_id, title: doc_id, quote: "x", start, end: start + 1 });
const LEAVE = "# Leave\n\n## Annual leave\n\nThirty days \u{1F334}.\n\n## Sick leave\n\nUnlimited.\n\n## Unpaid leave\n\nNone.\n";
const docs = [doc("a", "Leave"), doc("b", "Travel")];
const texts = new Map([["a", LEAVE], ["b", "## By train\n\nFirst class."]]);
const labels = (citations: Citation[], said = "How many days?") => followUps(citations, docs, texts, said).map((i) => i.label);
const at = (words: string) => [...LEAVE.slice(0, LEAVE.indexOf(words))].length;

describe("follow-up questions", () => {
  it("start after the quoted section, and end with a summary", () => {
    expect(labels([cite("a", at("Thirty"))])).toEqual(["What about “Sick leave”?", "What about “Unpaid leave”?", "Summarize Leave"]);
    expect(labels([cite("a", at("Unlimited"))])).toEqual(["What about “Unpaid leave”?", "What about “Annual leave”?", "Summarize Leave"]);
  });

  it("ask nothing twice", () => {
    expect(labels([cite("a", at("Thirty"))], "What does @Leave say about “Sick leave”?")).toEqual(["What about “Unpaid leave”?", "Summarize Leave"]);
    expect(labels([cite("a", at("Thirty"))], "Summarize @Leave")).not.toContain("Summarize Leave");
    expect(labels([cite("a", at("Thirty"))], "Fasse Leave zusammen\nsummarize")).not.toContain("Summarize Leave");
  });

  it("compare two documents if the answer cites two", () => {
    expect(labels([cite("a", at("Thirty")), cite("b", 15)])).toEqual(["What does Leave say about “Sick leave”?", "What does Leave say about “Unpaid leave”?", "Compare the two documents"]);
  });

  it("ask once about a section that two documents with long names have", () => {
    const long = ["2024", "2025"].map((year) => doc(year, `Remote Work and Customer Data Policy of the whole group for ${year}`));
    const same = new Map(long.map((d) => [d.id, "## Scope of it\n\nx\n\n## Working hours\n\n## Equipment\n"] as const));
    const asked = followUps([cite("2024", 18), cite("2025", 18)], long, same, "How many days?").map((i) => i.label);
    expect(asked).toEqual(["What about “Working hours”?", "What about “Equipment”?", "Compare the two documents"]);
  });

  it("compare the older of two documents with the newer", () => {
    const years = [doc("new", "Travel policy 2025"), doc("old", "Policy on travel 2024")];
    expect(textOf(followUps([cite("new", 0), cite("old", 0)], years, new Map(), "How many days?")[0]!.doc).trim()).toBe("Compare @Policy on travel 2024 and @Travel policy 2025");
  });

  it("are only about documents that exist", () => {
    expect(labels([cite("gone", 0)])).toEqual([]);
    expect(labels([{ n: 1, source: "web", title: "Page", url: "https://example.com", quote: "x" }])).toEqual([]);
  });
});
