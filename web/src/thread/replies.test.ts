// @vitest-environment jsdom
import { afterEach, describe, expect, it } from "vitest";
import { docOf, emptyDoc, mentionNode } from "../composer/outgoing";
import { loadLanguage } from "../words";
import { draftOf } from "./approval";
import { decideAll, decisionNamed, onlyDocuments, optionNamed, optionsOf } from "./replies";
import type { Question } from "./types";

afterEach(() => loadLanguage([]));

const asks = (interrupt_type: string, options: [id: string, label: string][], more: Partial<Question> = {}): Question => ({
  interrupt_id: "i",
  interrupt_type,
  message: "?",
  turn_id: "t",
  answered: false,
  options: options.map(([id, label]) => ({ id, label, ...(interrupt_type !== "doc_choice" && { message_code: `option.${id}` }) })),
  ...more,
});
const actions = asks("action_choice", [["inquire", "Inquire"], ["audit", "Audit"]]);
const documents = asks("doc_choice", [["all", "All of these"], ["d1", "Remote work 2024"], ["d2", "Remote work 2025"], ["d3", "2"], ["d4", "Twin"], ["d5", "Twin"]]);

describe("text that is typed while a question is open", () => {
  it.each([
    [actions, "Check against rules", "audit"],
    [actions, "  check AGAINST rules. ", "audit"],
    [actions, "Audit", "audit"], // the server's label
    [actions, "1", "inquire"],
    [actions, "#2.", "audit"],
    [actions, "3", undefined],
    [actions, "0", undefined],
    [actions, "Check against rules of 2024", undefined],
    [actions, "", undefined],
    [actions, "?!", undefined],
    [documents, "@Remote work 2025", "d2"],
    [documents, "1", "d1"],
    [documents, "2", "d3"], // a label wins over a number
    [documents, "6", "all"],
    [documents, "all of these", "all"],
    [documents, "Twin", undefined], // it is ambiguous
  ])("%# %j chooses an option: %s", (question, text, id) => {
    expect(optionNamed(optionsOf(question, true), text)?.id).toBe(id);
  });

  it("matches the labels of the page's language, and of the server", async () => {
    await loadLanguage(["de"]);
    const low = asks("retrieval_low", [["tag_docs", "Tag specific documents"], ["web_search", "Search the web"], ["continue", "Continue anyway"]]);
    expect(optionNamed(optionsOf(low, true), "continue anyway")?.id).toBe("continue");
    expect(optionNamed(optionsOf(actions, true), "frage stellen")?.id).toBe("inquire");
    expect(decisionNamed("Ablehnen")).toBe("rejected");
  });

  it("does not choose an option that is not offered", () => {
    const low = asks("retrieval_low", [["tag_docs", "Tag"], ["web_search", "Search the web"], ["continue", "Go on"]]);
    expect(optionsOf(low, false).map((o) => o.id)).toEqual(["tag_docs", "continue"]);
    expect(optionNamed(optionsOf(low, false), "2")?.id).toBe("continue");
    expect(optionNamed(optionsOf(low, false), "Search the web")).toBeUndefined();
  });

  it("approves only with exactly that word, and with the edited arguments", () => {
    expect([decisionNamed("Approve"), decisionNamed("approve!"), decisionNamed("reject")]).toEqual(["approved", "approved", "rejected"]);
    for (const text of ["", "yes", "1", "approve it", "do not approve"]) expect(decisionNamed(text)).toBeUndefined();
    const calls = [{ id: "c1", name: "draw", arguments: { a: 1 }, editable: true }, { id: "c2", name: "send", arguments: {}, editable: false }];
    const q = asks("tool_approval", [], { tool_calls: calls });
    const edited = { ...draftOf(calls[0]!), text: '{"a": 2}' };
    expect(decideAll(q, [edited], "approved")).toEqual([{ id: "c1", decision: "approved", arguments: { a: 2 } }, { id: "c2", decision: "approved" }]);
    expect(decideAll(q, [{ ...edited, text: "{" }], "approved")).toBeNull();
    expect(decideAll(q, [{ ...edited, text: "{" }], "rejected")).toHaveLength(2);
  });

  it("names documents to search if it contains only mentions", () => {
    const doc = (...content: object[]) => ({ ...emptyDoc, content: [{ type: "paragraph", content }] });
    const tag = mentionNode({ id: "d1", label: "Plan", category: "document" });
    const set = mentionNode({ id: "s1", label: "Plans", category: "set" });
    const action = mentionNode({ id: "audit", label: "Audit", category: "action" });
    const given = { taggedDocIds: ["d1"], taggedSetIds: [] };
    expect(onlyDocuments({ tiptap: doc(tag, { type: "text", text: ", " }, set), ...given })).toBe(true);
    expect(onlyDocuments({ tiptap: doc({ type: "text", text: "only " }, tag), ...given })).toBe(false);
    expect(onlyDocuments({ tiptap: doc(action, tag), ...given })).toBe(false);
    expect(onlyDocuments({ tiptap: docOf(""), taggedDocIds: [], taggedSetIds: [] })).toBe(false);
  });
});
