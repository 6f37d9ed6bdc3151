import { expect, it } from "vitest";
import { bytes, cost, lowestConfidence, short } from "./format";

it.each([[0, "$0.00"], [0.00001, "< $0.0001"], [0.00421, "$0.0042"], [0.314, "$0.31"], [2.1, "$2.10"]])("cost %d", (usd, want) => expect(cost(usd)).toBe(want));
it.each([[12, "12 B"], [48_213, "48 kB"], [1_248_213, "1.2 MB"], [8_000_000_000, "8 GB"]])("bytes %d", (n, want) => expect(bytes(n)).toBe(want));
it("lowestConfidence returns the lower of two confidences", () => {
  expect(lowestConfidence("high", "medium")).toBe("medium");
  expect(lowestConfidence("low", "high")).toBe("low");
  expect(lowestConfidence("high", undefined)).toBe("high");
  expect(lowestConfidence(undefined, undefined)).toBeUndefined();
});

it("short texts are the first 50 characters in one line", () => {
  expect(short("a\n b")).toBe("a b");
  expect(short("x".repeat(50))).toHaveLength(50);
  expect([...short("ä".repeat(51))]).toHaveLength(50);
  expect(short("👍".repeat(60))).toBe(`${"👍".repeat(49)}…`);
});
