import { expect, it } from "vitest";
import { bytes, cost, lowestConfidence } from "./format";

it.each([[0, "$0.00"], [0.00001, "< $0.0001"], [0.00421, "$0.0042"], [0.314, "$0.31"], [2.1, "$2.10"]])("cost %d", (usd, want) => expect(cost(usd)).toBe(want));
it.each([[12, "12 B"], [48_213, "48 kB"], [1_248_213, "1.2 MB"], [8_000_000_000, "8 GB"]])("bytes %d", (n, want) => expect(bytes(n)).toBe(want));
it("the weaker confidence is the one shown", () => {
  expect(lowestConfidence("high", "medium")).toBe("medium");
  expect(lowestConfidence("low", "high")).toBe("low");
  expect(lowestConfidence("high", undefined)).toBe("high");
  expect(lowestConfidence(undefined, undefined)).toBeUndefined();
});
