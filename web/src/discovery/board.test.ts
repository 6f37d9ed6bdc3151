import { describe, expect, it } from "vitest";
import { groupsOf, mentionablesWith } from "../composer/mentions";
import { Graph, matching, mentionsOfItems, neighbour, readBoard, statusesOf, type Kind } from "./board";

const board = readBoard({
  id: "b",
  title: "Churn",
  revision: 3,
  thread_id: "t",
  inputs: [{ input_id: "I-1", title: "Report", text: "Numbers" }],
  facts: [
    { fact_id: "F-1", text: "Churn rose", related_inputs: ["I-1"], status: "checked" },
    { fact_id: "F-2", text: "Support is slow", stale: true, stale_because: ["I-1"] },
    { fact_id: "F-10", text: "Prices rose", related_inputs: ["I-1"] },
  ],
  insights: [{ insight_id: "N-1", text: "Value comes late", related_facts: ["F-1", "F-10"] }],
  recommendations: [],
  outputs: [],
});
const graph = new Graph(board.items);
const ids = (items: readonly { id: string }[]) => items.map((i) => i.id);

describe("a board", () => {
  it("is read column by column", () => {
    expect(ids(board.items)).toEqual(["I-1", "F-1", "F-2", "F-10", "N-1"]);
    expect(board.items[2]).toMatchObject({ kind: "fact", related: [], stale: true, staleBecause: ["I-1"] });
    expect(board).toMatchObject({ threadId: "t", revision: 3, changes: [], proposals: [], history: [] });
  });

  it("is read from invalid data: what is missing is empty", () => {
    expect(readBoard({ facts: "none", inputs: [{}] })).toMatchObject({ title: "", items: [{ id: "", text: "", related: [] }] });
  });

  it("knows what an item builds on and what builds on it, across all columns", () => {
    expect([...graph.up("N-1")].sort()).toEqual(["F-1", "F-10", "I-1"]);
    expect([...graph.down("I-1")].sort()).toEqual(["F-1", "F-10", "N-1"]);
    expect([graph.uses("I-1"), graph.uses("F-2"), graph.uses("X-1")]).toEqual([2, 0, 0]);
  });

  it("with circular relations does not loop forever", () => {
    const odd = new Graph([{ ...board.items[1]!, id: "A", related: ["B"] }, { ...board.items[1]!, id: "B", related: ["A"] }]);
    expect([...odd.up("A")].sort()).toEqual(["A", "B"]);
  });

  it("is searched by id, title and text, and filtered", () => {
    const found = (q: string, filter = "all") => ids(matching(board.items, graph, q, filter));
    expect(found("rose")).toEqual(["F-1", "F-10"]);
    expect(found("rose churn")).toEqual(["F-1"]);
    expect(found("report")).toEqual(["I-1"]);
    expect(found("f-2")).toEqual(["F-2"]);
    expect(found("", "stale")).toEqual(["F-2"]);
    expect(found("", "unconnected")).toEqual(["F-2", "N-1"]);
    expect(found("", "status:checked")).toEqual(["F-1"]);
    expect(statusesOf(board.items)).toEqual(["checked"]);
  });

  it("is navigated with the arrow keys, which skip empty columns", () => {
    const kinds: Kind[] = ["input", "fact", "insight"];
    const columns = kinds.map((kind) => board.items.filter((i) => i.kind === kind));
    const withGap = [columns[0]!, [], columns[1]!, columns[2]!];
    expect(neighbour(columns, "F-1", "ArrowDown")).toBe("F-2");
    expect(neighbour(columns, "F-1", "ArrowUp")).toBeUndefined();
    expect(neighbour(columns, "F-10", "ArrowRight")).toBe("N-1");
    expect(neighbour(withGap, "I-1", "ArrowRight")).toBe("F-1");
    expect(neighbour(withGap, "F-10", "ArrowLeft")).toBe("I-1");
    expect(neighbour(columns, "F-2", "End")).toBe("F-10");
    expect(neighbour(columns, "F-2", "x")).toBeUndefined();
    expect(neighbour(columns, "X-9", "ArrowDown")).toBeUndefined();
  });
});

describe("mentions of items", () => {
  const doc = { id: "d1", title: "Remote work, half-time", status: "ready", source_type: "upload", format: "txt", bytes: 1, chunks: 1, public: false } as const;
  const all = mentionablesWith(mentionsOfItems(board.items), [doc]);
  const shown = (query: string) => groupsOf(all, query, new Set()).map((g) => [g.name, ...g.items.map((i) => i.label)]);

  it("are grouped by column, with the documents last", () => {
    expect(shown("")).toEqual([["Inputs", "I-1"], ["Facts", "F-1", "F-2", "F-10"], ["Insights", "N-1"], ["Documents", "Remote work, half-time"]]);
  });

  it("are filtered by the start of an id, or by words", () => {
    expect(shown("F-")).toEqual([["Facts", "F-1", "F-2", "F-10"]]);
    expect(shown("f-1")).toEqual([["Facts", "F-1", "F-10"]]);
    expect(shown("slow")).toEqual([["Facts", "F-2"]]);
    expect(shown("r")[0]).toEqual(["Inputs", "I-1"]);
  });
});
