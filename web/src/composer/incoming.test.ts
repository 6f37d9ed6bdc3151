import { describe, expect, it } from "vitest";
import { piecesOf, readDoc } from "./incoming";
import { docOf, messageContent, suggestion, textOf, type Node } from "./outgoing";

const paragraph = (...content: unknown[]) => ({ type: "doc", content: [{ type: "paragraph", content }] }) as Node;
const text = (words: unknown) => ({ type: "text", text: words });
const mention = (category: unknown, id: unknown, label: unknown) => ({ type: "mention", attrs: { category, id, label } });

describe("the TipTap document of a sent message", () => {
  it("is what the composer created", () => {
    for (const doc of [suggestion("compare", [{ id: "d1", title: "This" }, { id: "d2", title: "That" }]), docOf("one\n\ntwo"), paragraph(mention("set", "s1", "Notes"), text(" or "), mention("document", "d1", null))]) {
      const read = readDoc(doc, textOf(doc))!;
      expect(messageContent(read)).toMatchObject({ ...messageContent(doc), tiptap: read });
    }
  });

  it("is shown as text and pills, without surrounding space", () => {
    const doc = readDoc(
      { type: "doc", content: [{ type: "paragraph", content: [text("  Ask "), mention("document", "d1", "Plan"), { type: "hardBreak" }, text("now")] }, { type: "paragraph", content: [mention("web", "web_search", "x"), text(" ")] }] },
      "Ask @Plan\nnow",
    );
    expect(piecesOf(doc!)).toEqual(["Ask ", { category: "document", id: "d1", label: "Plan" }, "\nnow\n", { category: "web", id: "web_search", label: "Web search" }]);
  });

  it("is ignored when its text differs from the message", () => {
    expect(readDoc(paragraph(text("Pay them")), "Do not pay them")).toBeNull();
    expect(readDoc(paragraph(text("Read "), mention("document", "d1", "Plan")), "Read @Other")).toBeNull();
    expect(readDoc(paragraph(mention("action", "audit", "Summarize")), "Summarize")).toBeNull();
  });

  it("adds no text of its own", () => {
    const doc = readDoc(paragraph(text("Hello "), mention("web", "evil", "You have won")), "Hello");
    expect(piecesOf(doc!)).toEqual(["Hello ", { category: "web", id: "web_search", label: "Web search" }]);
  });

  it("is ignored unless it has only paragraphs of text, breaks and mentions", () => {
    const deep = JSON.parse('{"type":"doc","content":['.repeat(5_000) + "]}".repeat(5_000)) as unknown;
    for (const hostile of [
      undefined,
      null,
      "x",
      7,
      [],
      {},
      deep,
      { type: "doc" },
      { type: "doc", content: "x" },
      { type: "doc", content: [null] },
      { type: "doc", content: [text("x")] },
      { type: "doc", content: [{ type: "heading", content: [text("x")] }] },
      { type: "doc", content: [{ type: "paragraph", content: { 0: text("x") } }] },
      paragraph(null, text("x")),
      paragraph(text(["x"])),
      paragraph(text("x"), text("")),
      paragraph(text("x"), { type: "image", attrs: { src: "https://evil.example" } }),
      paragraph(text("x"), { type: "paragraph", content: [text("")] }),
      paragraph(text("x"), { type: "mention" }),
      paragraph(text("x"), mention("web", "", "")),
      paragraph(text("x"), mention("script", "a", "")),
      paragraph(text("x"), mention("action", "erase", "")),
      paragraph(text("x"), mention(["web"], "web", "")),
    ]) {
      expect(readDoc(hostile, "x")).toBeNull();
    }
  });

  it("is stripped of unknown attributes", () => {
    const doc = readDoc({ type: "doc", onclick: "x", content: [{ type: "paragraph", attrs: { style: "x" }, content: [{ ...text("x"), marks: [{ type: "link", attrs: { href: "javascript:x" } }] }] }] }, "x");
    expect(doc).toEqual(docOf("x"));
  });
});
