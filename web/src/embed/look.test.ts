import { describe, expect, it } from "vitest";
import { inkOn, lookOf } from "./look";

describe("the look of a frame", () => {
  it("is read from its address", () => {
    const search = new URLSearchParams({ origin: "https://app.example.com", token: "1", title: "Ask us", agent: "assistant", set: "5e1f", accent: "#1a2B3c", theme: "dark", language: "de-AT" }).toString();
    expect(lookOf(search)).toEqual({ origin: "https://app.example.com", givesTokens: true, title: "Ask us", agent: "assistant", set: "5e1f", accent: "#1a2B3c", theme: "dark", language: "de-AT" });
  });

  it("has nothing that is malformed", () => {
    const search = new URLSearchParams({ title: "x".repeat(100), agent: "a b", set: "../x", accent: "red;background:url(//evil)", theme: "blue", language: "d1" }).toString();
    expect(lookOf(search)).toEqual({ origin: "", givesTokens: false, title: "x".repeat(80) });
  });

  it("has text that can be read on its colour", () => {
    expect(["#000000", "#1c625c", "#ffffff", "#ffe9a3"].map(inkOn)).toEqual(["#ffffff", "#ffffff", "#000000", "#000000"]);
  });
});
