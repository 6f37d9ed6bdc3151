import { afterEach, describe, expect, it, vi } from "vitest";
import { request } from "../api/http";
import { authorized, hasTokens, newestToken, setTokens, type Tokens } from "./token";

/** A source whose tokens are t1, t2, … */
function source(): Tokens & { renewals: string[] } {
  let n = 1;
  const renewals: string[] = [];
  return {
    renewals,
    current: async () => `t${n}`,
    renew: async (refused) => {
      renewals.push(refused);
      return `t${++n}`;
    },
    newest: () => `t${n}`,
  };
}

afterEach(() => {
  setTokens(undefined);
  vi.unstubAllGlobals();
});

/** A server that accepts one token. */
function server(accepted: string) {
  const seen: (string | null)[] = [];
  vi.stubGlobal("fetch", async (_path: string, init: RequestInit) => {
    const sent = new Headers(init.headers).get("Authorization");
    seen.push(sent);
    return sent === accepted ? Response.json({}) : Response.json({ error: { code: "unauthenticated", message: "no" } }, { status: 401 });
  });
  return seen;
}

describe("requests of an account", () => {
  it("send its token", async () => {
    setTokens(source());
    const seen = server("Bearer t1");
    await request("/api/me");
    expect(seen).toEqual(["Bearer t1"]);
    expect([hasTokens(), newestToken()]).toEqual([true, "t1"]);
  });

  it("are retried once with a new token when the server refuses one", async () => {
    const tokens = source();
    setTokens(tokens);
    const seen = server("Bearer t2");
    await request("/api/me");
    expect(seen).toEqual(["Bearer t1", "Bearer t2"]);
    expect(tokens.renewals).toEqual(["t1"]);
  });

  it("are not sent a third time", async () => {
    setTokens(source());
    const seen = server("Bearer other");
    await expect(request("/api/me")).rejects.toMatchObject({ status: 401 });
    expect(seen).toHaveLength(2);
  });

  it("are not sent without a token while it cannot be refreshed", async () => {
    setTokens({ ...source(), current: () => Promise.reject(new Error("offline")) });
    const seen = server("");
    await expect(request("/api/me")).rejects.toMatchObject({ status: 0 });
    expect(seen).toEqual([]);
  });

  it("have no token and no retry without an account", async () => {
    const seen = server("");
    await expect(request("/api/me")).rejects.toMatchObject({ status: 401 });
    expect(seen).toEqual([null]);
    expect(await authorized(async (token) => ({ status: 200, token }))).toEqual({ status: 200, token: undefined });
  });
});
