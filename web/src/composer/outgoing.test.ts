import { describe, expect, it } from "vitest";
import { docOf, emptyDoc, messageContent, suggestion, textOf, type Node } from "./outgoing";

const mention = (category: string, id: string, label: string | null): Node => ({ type: "mention", attrs: { id, label, category, mentionSuggestionChar: "@" } });
const text = (words: string): Node => ({ type: "text", text: words });
const doc = (...content: Node[]): Node => ({ type: "doc", content: [{ type: "paragraph", content }] });

describe("an outgoing message", () => {
  it("has the names of documents and sets in its text, and lists each id once", () => {
    const got = messageContent(doc(text("Compare "), mention("document", "d1", "Plan.pdf"), text(" with "), mention("set", "s1", "Policies"), text(" and "), mention("document", "d1", "Plan.pdf")));
    expect(got.text).toBe("Compare @Plan.pdf with @Policies and @Plan.pdf");
    expect(got.taggedDocIds).toEqual(["d1"]);
    expect(got.taggedSetIds).toEqual(["s1"]);
    expect(got.webSearch).toBe(false);
    expect(got).not.toHaveProperty("action");
  });

  it("writes an action as its verb", () => {
    const got = messageContent(doc(mention("action", "summarize", "Summarize"), text(" this")));
    expect([got.text, got.action]).toEqual(["Summarize this", "summarize"]);
  });

  it("removes the web search mention from the text", () => {
    const got = messageContent(doc(text("What is new "), mention("web", "web_search", "Web search"), text(" about loans "), mention("web", "web_search", "Web search"), text("?")));
    expect([got.text, got.webSearch]).toEqual(["What is new about loans?", true]);
  });

  it("is blank when it has only space or a web search mention", () => {
    for (const blank of [emptyDoc, doc(text("  \u00a0 ")), doc({ type: "hardBreak" }), doc(mention("web", "web_search", "Web search"), text(" "))]) {
      expect(textOf(blank)).toBe("");
    }
  });

  it("keeps line breaks, and falls back to the id of a mention without a name", () => {
    expect(textOf(doc(text("a"), { type: "hardBreak" }, text("b  c")))).toBe("a\nb  c");
    expect(textOf(doc(mention("document", "d1", null)))).toBe("@d1");
  });
});

describe("text as a document", () => {
  it("survives a round trip", () => {
    for (const words of ["one line", "two\nlines", "a\n\nb", "<b>not markup</b> @nobody"]) expect(textOf(docOf(words))).toBe(words);
    expect(textOf(docOf("a\r\nb"))).toBe("a\nb");
    expect(docOf("")).toEqual(emptyDoc);
  });
});

it("suggests an action on documents as mentions", () => {
  const got = messageContent(suggestion("compare", [{ id: "d1", title: "This" }, { id: "d2", title: "That" }]));
  expect(got).toMatchObject({ text: "Compare @This and @That", action: "compare", taggedDocIds: ["d1", "d2"] });
});
