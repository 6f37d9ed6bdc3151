import { expect, test } from "vitest";
import type { Doc } from "../api/types";
import { pollAfter } from "./polling";

const doc = (status: string) => ({ id: status, status }) as Doc;

test("the documents are polled while one is processed or waits for its vectors", () => {
  expect(pollAfter(undefined)).toBe(false);
  expect(pollAfter({ docs: [doc("ready")], embedding: null })).toBe(false);
  expect(pollAfter({ docs: [doc("processing")], embedding: null })).toBe(1_000);
  expect(pollAfter({ docs: [doc("ready")], embedding: { done: 1, total: 2 } })).toBe(5_000);
});
