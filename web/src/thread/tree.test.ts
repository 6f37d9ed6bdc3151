import { expect, it } from "vitest";
import { endOf, isNewest, parentOf, ROOT, versionsOf } from "./tree";

// t1 ── t2 ── t4
//   └── t3 (edited t2) ── t5
const branches = { [ROOT]: ["t1"], t1: ["t2", "t3"], t2: ["t4"], t3: ["t5"] };

it("returns the parent of a turn", () => {
  expect(parentOf(branches, "t1")).toBe(ROOT);
  expect(parentOf(branches, "t3")).toBe("t1");
  expect(parentOf(branches, "t9")).toBeUndefined();
});
it("returns the versions of a turn", () => {
  expect(versionsOf(branches, "t2")).toEqual(["t2", "t3"]);
  expect(versionsOf(branches, "t1")).toEqual(["t1"]);
  expect(versionsOf(branches, "t9")).toEqual(["t9"]);
});
it("reads a tree of 1,000 branches once", () => {
  let reads = 0;
  const turns = Array.from({ length: 1000 }, (_, i) => `t${i}`);
  const tree = Object.fromEntries(turns.map((t, i) => [turns[i - 1] ?? ROOT, [t]]));
  const counted = new Proxy(tree, { get: (o, key: string) => (reads++, o[key]), ownKeys: (o) => (reads++, Reflect.ownKeys(o)) });
  for (const t of turns) expect(versionsOf(counted, t)).toEqual([t]);
  expect(reads).toBeLessThanOrEqual(2 * turns.length + 1); // the whole tree once, and one read per call
});
it("returns the newest end of a branch", () => {
  expect(endOf(branches, "t2")).toBe("t4");
  expect(endOf(branches, "t1")).toBe("t5");
  expect(endOf(branches, "t5")).toBe("t5");
});
it("terminates in a tree with a cycle", () => expect(endOf({ a: ["b"], b: ["a"] }, "a")).toBe("a"));
it("returns the newest turn", () => {
  expect(isNewest(branches, "t5")).toBe(true);
  expect(isNewest(branches, "t4")).toBe(false);
  expect(isNewest({}, "t1")).toBe(true);
});
