// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { tokensOf } from "./supabase";

type Auth = Parameters<typeof tokensOf>[0];

/** An auth client. Each refresh moves on to the next token; null means no session. */
function client(tokens: (string | null)[], error: Error | null = null) {
  const calls: string[] = [];
  let at = 0;
  const answer = () => {
    const token = tokens[at];
    return { data: { session: token ? { access_token: token } : null, user: null }, error: token ? null : error };
  };
  const auth = {
    getSession: async () => (calls.push("get"), answer()),
    refreshSession: async () => (calls.push("refresh"), (at = Math.min(at + 1, tokens.length - 1)), answer()),
  };
  return { auth: auth as unknown as Auth, calls };
}

describe("the tokens of a session", () => {
  it("come from auth-js, which refreshes them before they expire", async () => {
    const tokens = tokensOf(client(["t2"]).auth, "t1");
    expect(tokens.newest()).toBe("t1");
    expect(await tokens.current()).toBe("t2");
    expect(tokens.newest()).toBe("t2");
  });

  it("are undefined after a sign-out, and reject while the server cannot be reached", async () => {
    expect(await tokensOf(client([null]).auth, "t1").current()).toBeUndefined();
    await expect(tokensOf(client([null], new Error("offline")).auth, "t1").current()).rejects.toMatchObject({ status: 0 });
  });

  it("are refreshed once when the server refuses one", async () => {
    const { auth, calls } = client(["t1", "t2", "t3"]);
    const tokens = tokensOf(auth, "t1");
    expect(await tokens.renew("t1")).toBe("t2");
    expect(await tokens.renew("t2")).toBeUndefined(); // the server also refused the renewed token
    expect(calls.filter((c) => c === "refresh")).toHaveLength(1);
  });

  it("are not refreshed again if another request has already done so", async () => {
    const { auth, calls } = client(["t2"]);
    expect(await tokensOf(auth, "t1").renew("t1")).toBe("t2");
    expect(calls).toEqual(["get"]);
  });
});
