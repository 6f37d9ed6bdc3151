import { describe as group, expect, it } from "vitest";
import { describe, nearest, type Use } from "./limits";

const use = (name: string, used: number, limit = 100): Use => ({ name, used, limit });

group("the notice about a limit", () => {
  it("comes when four fifths are used", () => {
    expect(nearest([use("daily_tokens", 79), use("documents", 10)])).toBeUndefined();
    expect(nearest([use("daily_tokens", 80)])?.name).toBe("daily_tokens");
  });
  it("is about the limit that is nearest", () => {
    expect(nearest([use("daily_tokens", 90), use("storage_bytes", 99), use("documents", 85)])?.name).toBe("storage_bytes");
  });
  it("says nothing about a limit that the page does not know, or that is none", () => {
    expect(nearest([use("new_kind", 99), use("constructor", 99), use("documents", 5, 0)])).toBeUndefined();
  });
  it("says how much is used, and when a day is over", () => {
    expect(describe(use("documents", 170, 200))).toBe("You have used 85% of your documents. Delete some to make room.");
    expect(describe({ ...use("daily_tokens", 120), resets_at: "2026-11-24T00:00:00.000Z" })).toMatch(/^You have used 100% of today's AI budget\. It starts over at \d/);
  });
});
