import { expect, it } from "vitest";
import { bytes, cost, weakest } from "./format";

it.each([[0, "$0.00"], [0.00001, "< $0.0001"], [0.00421, "$0.0042"], [0.314, "$0.31"], [2.1, "$2.10"]])("cost %d", (usd, want) => expect(cost(usd)).toBe(want));
it.each([[12, "12 B"], [48_213, "48 kB"], [1_248_213, "1.2 MB"]])("bytes %d", (n, want) => expect(bytes(n)).toBe(want));
it("the weaker confidence is the one shown", () => {
  expect(weakest("high", "medium")).toBe("medium");
  expect(weakest("low", "high")).toBe("low");
  expect(weakest("high", undefined)).toBe("high");
  expect(weakest(undefined, undefined)).toBeUndefined();
});
