// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { keepHead, readHead } from "./heads";

beforeEach(() => sessionStorage.clear());

it("keeps one version for each thread until it is cleared", () => {
  keepHead("a", "t1");
  keepHead("b", "t2");
  keepHead("a", "t3");
  expect([readHead("a"), readHead("b"), readHead("c")]).toEqual(["t3", "t2", undefined]);
  keepHead("a", undefined);
  keepHead("b", undefined);
  expect(readHead("a")).toBeUndefined();
  expect(sessionStorage).toHaveLength(0);
});

it("keeps the most recent choices", () => {
  for (let i = 0; i < 50; i++) keepHead(`thread ${i}`, "t");
  keepHead("thread 20", "t");
  for (let i = 50; i < 80; i++) keepHead(`thread ${i}`, "t");
  expect([readHead("thread 19"), readHead("thread 20"), readHead("thread 79")]).toEqual([undefined, "t", "t"]);
  expect(JSON.parse(sessionStorage.getItem("palaver.heads")!)).toHaveLength(40);
});

it("ignores invalid storage", () => {
  for (const corrupt of ["{", "{}", '[["a"],["a",1],null,"a"]']) {
    sessionStorage.setItem("palaver.heads", corrupt);
    expect(readHead("a")).toBeUndefined();
  }
});
