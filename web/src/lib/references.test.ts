import { describe, expect, it } from "vitest";
import type { Node } from "./markers";
import { referencesIn, remarkReferences, sealReferences } from "./references";

const text = (value: string): Node => ({ type: "text", value });
const walked = (...children: Node[]): Node[] => {
  const tree: Node = { type: "root", children };
  remarkReferences()(tree);
  return tree.children!;
};
const said = (nodes: readonly Node[]) => nodes.map((n) => (n.type === "reference" ? `<${n.children![0]!.value}>` : n.value));

describe("ids of items in an answer", () => {
  it.each([
    ["See F-1.", ["See ", "<F-1>", "."]],
    ["See [F-1] and [N-12]", ["See ", "<F-1>", " and ", "<N-12>"]],
    ["(I-1, O-3)", ["(", "<I-1>", ", ", "<O-3>", ")"]],
    ["[F-1]: it says", ["<F-1>", ": it says"]],
    ["F-0, F-01, X-1, AF-1, F-1a, F-1-2, f-1", ["F-0, F-01, X-1, AF-1, F-1a, F-1-2, f-1"]],
    ["**F-1**", ["**", "<F-1>", "**"]],
  ])("%j", (markdown, pieces) => expect(said(walked(text(sealReferences(markdown))))).toEqual(pieces));

  it("stay unchanged in code and in URLs", () => {
    expect(walked({ type: "inlineCode", value: sealReferences("[F-1]") })[0]!.value).toBe("[F-1]");
    expect(walked({ type: "link", url: sealReferences("https://a.example/[F-1]"), children: [text("F-1")] })[0]).toMatchObject({ url: "https://a.example/[F-1]" });
  });

  it("are listed once each", () => expect(referencesIn("F-1, [F-1] and N-2")).toEqual(["F-1", "N-2"]));
});
