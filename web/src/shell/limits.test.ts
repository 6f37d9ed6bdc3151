import { describe, expect, it } from "vitest";
import { limitText, nearest } from "./limits";
import type { Use } from "./me";

const use = (name: string, used: number, limit = 100): Use => ({ name, used, limit });

describe("the notice about a limit", () => {
  it("is shown from 80 % on", () => {
    expect(nearest([use("daily_tokens", 79), use("documents", 10)])).toBeUndefined();
    expect(nearest([use("daily_tokens", 80)])?.name).toBe("daily_tokens");
  });
  it("is about the limit that is closest to being reached", () => {
    expect(nearest([use("daily_tokens", 90), use("storage_bytes", 99), use("documents", 85)])?.name).toBe("storage_bytes");
  });
  it("ignores unknown limits, and limits of 0", () => {
    expect(nearest([use("new_kind", 99), use("constructor", 99), use("documents", 5, 0)])).toBeUndefined();
  });
  it("says how much is used, and when a daily limit is reset", () => {
    expect(limitText(use("documents", 170, 200))).toBe("You have used 85% of your documents. Delete some to make room.");
    expect(limitText({ ...use("daily_tokens", 120), resets_at: "2026-11-24T00:00:00.000Z" })).toMatch(/^You have used 100% of today's AI budget\. It starts over at \d/);
  });
});
