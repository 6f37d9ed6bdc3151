import { expect, it } from "vitest";
import { MOST_AT_ONCE, pick } from "./picking";

const ids = ["a", "b", "c", "d"];
const picked = (...of: string[]) => new Set(of);

it("selects and deselects one", () => {
  expect(pick(picked(), ids, "b", null, false)).toEqual(picked("b"));
  expect(pick(picked("b", "c"), ids, "b", "c", false)).toEqual(picked("c"));
});

it("selects a range in both directions", () => {
  expect(pick(picked("b"), ids, "d", "b", true)).toEqual(picked("b", "c", "d"));
  expect(pick(picked("d"), ids, "b", "d", true)).toEqual(picked("d", "b", "c"));
  expect(pick(picked(), ids, "b", null, true)).toEqual(picked("b"));
});

it("selects no more than one request can change", () => {
  const many = Array.from({ length: MOST_AT_ONCE + 5 }, (_, i) => String(i));
  expect(pick(picked("0"), many, many.at(-1)!, "0", true).size).toBe(MOST_AT_ONCE);
});
