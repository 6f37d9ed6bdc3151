import { describe, expect, it } from "vitest";
import { remarkMarkers, seal, type Node } from "./markers";

const flat = (n: Node): string => (n.type === "cite" ? `<${n.children![0]!.value}>` : (n.value ?? (n.children ?? []).map(flat).join("")));
const run = (...children: Node[]): string => {
  const root: Node = { type: "root", children };
  remarkMarkers()(root);
  return flat(root);
};
const text = (value: string): Node => ({ type: "text", value });

const link = (url: string, words: string): Node => ({ type: "link", url: seal(url), children: [text(seal(words))] });

describe("markers", () => {
  it("become cite elements in text", () => expect(run(text(seal("a [1], b [2][3].")))).toBe("a\u00A0<1>, b\u00A0<2><3>."));
  it("are only the numbers of citations once the citations are known", () => expect(run(text(seal("[1] of [7]", new Set([1]))))).toBe("<1> of [7]"));
  it("do not include years and words", () => expect(run(text(seal("in [2024] and [x]")))).toBe("in [2024] and [x]"));
  it("are plain brackets in code", () => expect(run({ type: "inlineCode", value: seal("a[1]") })).toBe("a[1]"));
  it("are found in nested nodes", () => expect(run({ type: "paragraph", children: [{ type: "strong", children: [text(seal("x[1]"))] }] })).toBe("x<1>"));
  it("stay unchanged in the URL of a link", () => {
    const node = link("https://example.org/a[1]b", "[2]");
    expect(run(node)).toBe("<2>");
    expect(node.url).toBe("https://example.org/a[1]b");
  });
  it("stay unchanged in the URL, title and alt text of a picture", () => {
    const node: Node = { type: "image", url: seal("/a[1]"), alt: seal("b[2]"), title: null };
    run(node);
    expect(node).toMatchObject({ url: "/a[1]", alt: "b[2]", title: null });
  });
  it("end a bare URL and follow it", () => {
    const node = link("http://www.example.org[1], [2]", "www.example.org[1], [2]");
    expect(run(node)).toBe("www.example.org<1>,\u00A0<2>");
    expect(node).toMatchObject({ url: "http://www.example.org", children: [text("www.example.org")] });
  });
  it("cannot be forged with the private-use characters", () => expect(run(text(seal("\uE0009\uE001 [1]", new Set([1]))))).toBe("9\u00A0<1>"));
});
