import { describe, expect, it } from "vitest";
import { endOf } from "./useReader";

describe("the end that is shown", () => {
  it.each([
    ["all of a short conversation", 500, 800, null, 0],
    ["the end without a new answer", 3000, 800, null, 2200],
    ["the end of an answer that fits", 1300, 800, { question: 900, answer: 960 }, 500],
    ["the question and the beginning of an answer that does not fit", 5000, 800, { question: 900, answer: 960 }, 900],
    ["the end of a long question and the beginning of its answer", 5000, 800, { question: 900, answer: 2900 }, 2580],
  ] as const)("is %s", (_, height, view, begin, want) => expect(endOf(height, view, begin)).toBe(want));
});
