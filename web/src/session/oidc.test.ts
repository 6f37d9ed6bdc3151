// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OIDC } from "../api/config";
import { open, tokensOf } from "./oidc";
import { oidcFlow, saveOIDCFlow, SESSION_KEY } from "./pendingSignIn";

const oidc: OIDC = { issuer: "https://login.example", clientId: "page", scopes: "openid", audience: "", nameClaim: "name", emailClaim: "email", authorizationEndpoint: "https://login.example/auth", tokenEndpoint: "https://login.example/token", endSessionEndpoint: "" };

const seconds = () => Math.floor(Date.now() / 1000);
const part = (value: object) => btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const idToken = (claims: object) => [part({ alg: "ES256" }), part({ iss: oidc.issuer, aud: "page", sub: "ann", email: "ann@example.com", iat: seconds(), exp: seconds() + 3600, ...claims }), "c2ln"].join(".");

const keep = (more: object = {}) => localStorage.setItem(SESSION_KEY, JSON.stringify({ issuer: oidc.issuer, user: { id: "ann", name: "" }, token: "t1", expires: Date.now() + 3_600_000, refresh: "r1", idToken: "t1", ...more }));
const kept = () => JSON.parse(localStorage.getItem(SESSION_KEY) ?? "null") as { token: string; refresh: string } | null;

let asked: URLSearchParams[];
/** Makes the token endpoint answer; a number is a status without an answer, undefined: it cannot be reached. */
function provider(...answers: (object | number | undefined)[]) {
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked.push(new URLSearchParams(init.body as string));
    const answer = answers.shift();
    if (!answer) throw new TypeError("failed");
    if (typeof answer === "number") return new Response("<h1>Later</h1>", { status: answer });
    return new Response(JSON.stringify(answer), { status: "error" in answer ? 400 : 200, headers: { "Content-Type": "application/json" } });
  });
}

const assign = vi.fn();
beforeEach(() => {
  asked = [];
  localStorage.clear();
  sessionStorage.clear();
  assign.mockClear();
  let before: Promise<unknown> = Promise.resolve();
  vi.stubGlobal("navigator", { ...navigator, locks: { request: (_: string, run: () => Promise<unknown>) => (before = before.then(run, run)) } });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Replaces the address of the page: jsdom cannot leave it. */
const at = (href: string) => vi.stubGlobal("location", { href, origin: "https://chat.example", pathname: new URL(href).pathname, assign });

describe("the tokens of a session", () => {
  it("are renewed once before they end, by whichever request comes first", async () => {
    const next = idToken({});
    provider({ access_token: "a", token_type: "bearer", id_token: next, refresh_token: "r2" });
    keep({ expires: Date.now() + 1000 });
    const tokens = tokensOf(oidc);
    expect(await Promise.all([tokens.current(), tokens.current(), tokensOf(oidc).current()])).toEqual([next, next, next]);
    expect(asked.map((q) => [q.get("grant_type"), q.get("refresh_token"), q.get("client_id")])).toEqual([["refresh_token", "r1", "page"]]);
    expect(kept()).toMatchObject({ token: next, refresh: "r2" });
    expect(tokens.newest()).toBe(next);
  });

  it("are renewed once when the server refuses one", async () => {
    const next = idToken({});
    provider({ access_token: "a", token_type: "bearer", id_token: next });
    keep();
    const tokens = tokensOf(oidc);
    expect(await tokens.renew("t1")).toBe(next);
    expect(await tokens.renew("t1")).toBe(next); // another request has renewed it
    expect(await tokens.renew(next)).toBeUndefined(); // the server also refused the renewed token
    expect(asked).toHaveLength(1);
  });

  it.each([undefined, 503, 429])("last to their end while the provider cannot answer (%s)", async (failure) => {
    provider(failure, failure);
    keep({ expires: Date.now() + 1000 });
    expect(await tokensOf(oidc).current()).toBe("t1");
    keep({ expires: Date.now() - 1000 });
    await expect(tokensOf(oidc).current()).rejects.toMatchObject({ status: 0 });
    expect(kept()).not.toBeNull();
  });

  it.each([{ error: "invalid_grant" }, { access_token: "a", token_type: "bearer", id_token: idToken({ sub: "bob" }) }, { access_token: "a", token_type: "bearer", id_token: idToken({ aud: "other" }) }])("last to their end after the provider has answered %j, and it is not asked again", async (answer) => {
    provider(answer);
    keep({ expires: Date.now() + 10_000 });
    const tokens = tokensOf(oidc);
    expect(await tokens.current()).toBe("t1");
    expect(await tokensOf(oidc).current()).toBe("t1"); // another tab, or the page after a reload
    expect(await tokens.current()).toBe("t1");
    expect(asked).toHaveLength(1);
  });

  it.each([["its end", -1000, undefined], ["a refusal by the server", 3_600_000, "t1"]])("are replaced after %s by the session at the provider, without a question", async (_, left, refused) => {
    at("https://chat.example/chat/one");
    vi.spyOn(crypto.subtle, "digest").mockResolvedValue(new Uint8Array(32) as never); // jsdom's is of another realm
    provider({ error: "invalid_grant" });
    keep({ expires: Date.now() + left });
    const tokens = tokensOf(oidc);
    void (refused ? tokens.renew(refused) : tokens.current());
    await vi.waitFor(() => expect(assign).toHaveBeenCalledOnce());
    expect(new URL(assign.mock.calls[0]![0] as string).searchParams.get("prompt")).toBe("none");
    expect(oidcFlow()?.renews).toEqual({ user: "ann", path: "/chat/one" });
    expect(kept()).not.toBeNull();
  });

  it("are renewed after half of their time if they last a minute", async () => {
    const next = idToken({ exp: seconds() + 60 });
    provider({ access_token: "a", token_type: "bearer", id_token: next, refresh_token: "r2" });
    keep({ expires: Date.now() - 1000 });
    const tokens = tokensOf(oidc);
    expect(await tokens.current()).toBe(next);
    expect(await tokens.current()).toBe(next);
    expect(asked).toHaveLength(1);
  });

  it("of another issuer are not sent", async () => {
    keep({ issuer: "https://other.example" });
    expect(await tokensOf(oidc).current()).toBeUndefined();
  });
});

describe("a return from the provider", () => {
  const flow = { state: "s1", nonce: "n1", verifier: "v".repeat(43) };
  const answer = (claims: object) => ({ access_token: "a", token_type: "bearer", id_token: idToken({ nonce: "n1", ...claims }) });

  it.each([
    ["a nonce of another sign-in", "?code=c&state=s1", { nonce: "n2" }],
    ["a token for another client", "?code=c&state=s1", { aud: "other" }],
    ["a token of another issuer", "?code=c&state=s1", { iss: "https://evil.example" }],
    ["an answer of another issuer", "?code=c&state=s1&iss=https%3A%2F%2Fevil.example", {}],
    ["a refusal", "?error=access_denied&state=s1", {}],
  ])("with %s opens no session", async (_, query, claims) => {
    at(`https://chat.example/${query}`);
    saveOIDCFlow(flow);
    provider(answer(claims));
    const { account, problem } = await open(oidc);
    expect(account).toBeUndefined();
    expect(problem).toBeTruthy();
    expect(kept()).toBeNull();
  });

  it("opens the session of the code, with the verifier of this tab, once", async () => {
    at("https://chat.example/?code=c&state=s1");
    saveOIDCFlow(flow);
    provider(answer({}));
    expect(await open(oidc)).toEqual({ account: { id: "ann", name: "ann@example.com" } });
    expect(Object.fromEntries(asked[0]!)).toMatchObject({ grant_type: "authorization_code", code: "c", code_verifier: flow.verifier, redirect_uri: "https://chat.example/" });
    localStorage.clear();
    expect(await open(oidc)).toEqual({});
    expect(asked).toHaveLength(1);
  });

  const renewing = { ...flow, renews: { user: "ann", path: "/chat/one" } };

  it("renews the session of the same person, at the same place", async () => {
    at("https://chat.example/?code=c&state=s1");
    keep({ expires: Date.now() - 1000 });
    saveOIDCFlow(renewing);
    provider(answer({}));
    const place = vi.spyOn(history, "replaceState");
    expect(await open(oidc)).toEqual({ account: { id: "ann", name: "ann@example.com" } });
    expect(place.mock.lastCall?.[2]).toBe("/chat/one");
    expect(asked).toHaveLength(1);
  });

  it.each([
    ["refuses to renew without a question", "?error=login_required&state=s1", {}],
    ["names another person", "?code=c&state=s1", { sub: "bob" }],
    ["did not answer: the person went back", "", {}],
  ])("ends the session when the provider %s", async (_, query, claims) => {
    at(`https://chat.example/${query}`);
    keep({ expires: Date.now() - 1000 });
    saveOIDCFlow(renewing);
    provider(answer(claims));
    expect(await open(oidc)).toEqual({ problem: "Your session has ended. Sign in again." });
    expect(kept()).toBeNull();
    expect(oidcFlow()).toBeUndefined();
  });
});
