// A small copy of Supabase's auth server (GoTrue): the paths that auth-js asks for, and
// the pages that a browser is sent to. Its tokens are signed with the server's secret.
import { createHash, createHmac, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const SECRET = "a secret that only tests have";
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "*" };

const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

function sign(claims) {
  const text = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`;
  return `${text}.${createHmac("sha256", SECRET).update(text).digest("base64url")}`;
}

const failed = (status, code) => [status, { code: status, error_code: code, msg: code }];

/** people: passwords by email. */
export async function startGoTrue(people = {}) {
  const auth = {
    asked: [],
    /** Emails that were sent: {email, link, code}. */
    mails: [],
    /** Seconds until a new token expires, as its session says. */
    lifetime: 3600,
    /** How many new tokens have expired when they are made, although their session says otherwise. */
    stale: 0,
    /** Answers every request to sign in with 429. */
    limited: false,
    /** How many refreshes are carried out without their answer reaching the browser. */
    lost: 0,
  };
  const users = new Map(); // by email
  // {user, replaces} by refresh token. Like Supabase's server, a used token works again until
  // the one that replaced it is used: its answer may not have reached the browser.
  const refreshes = new Map();
  const codes = new Map(); // {user, challenge} by code of PKCE
  const links = new Map(); // {user, challenge, back} by token of a link
  const url = () => `http://127.0.0.1:${server.address().port}`;

  const userOf = (email) => {
    if (!users.has(email)) users.set(email, { id: randomUUID(), aud: "authenticated", role: "authenticated", email, app_metadata: {}, user_metadata: {}, created_at: new Date().toISOString() });
    return users.get(email);
  };

  const session = (user, replaces) => {
    const now = Math.floor(Date.now() / 1000);
    const exp = auth.stale-- > 0 ? now - 120 : now + auth.lifetime;
    const refresh = randomUUID();
    refreshes.set(refresh, { user, replaces });
    return [200, { access_token: sign({ sub: user.id, email: user.email, aud: "authenticated", role: "authenticated", iat: now, exp, jti: randomUUID() }), token_type: "bearer", expires_in: auth.lifetime, expires_at: now + auth.lifetime, refresh_token: refresh, user }];
  };

  const grants = {
    password: ({ email, password }) => (people[email] !== undefined && people[email] === password ? session(userOf(email)) : failed(400, "invalid_credentials")),
    refresh_token: ({ refresh_token }) => {
      const known = refreshes.get(refresh_token);
      if (!known) return failed(400, "refresh_token_not_found");
      refreshes.delete(known.replaces);
      return session(known.user, refresh_token);
    },
    pkce: ({ auth_code, code_verifier }) => {
      const known = codes.get(auth_code);
      codes.delete(auth_code);
      if (!known) return failed(404, "flow_state_not_found");
      return createHash("sha256").update(code_verifier).digest("base64url") === known.challenge ? session(known.user) : failed(400, "bad_code_verifier");
    },
  };

  const codeFor = (user, challenge) => {
    const code = randomUUID();
    codes.set(code, { user, challenge });
    return code;
  };

  const mail = (email, challenge, back) => {
    const token = randomUUID();
    links.set(token, { user: userOf(email), challenge, back });
    auth.mails.push({ email, code: "123456", link: `${url()}/auth/v1/verify?${new URLSearchParams({ token, type: "magiclink", redirect_to: back })}` });
    return [200, {}];
  };

  const follow = (token, back) => {
    const known = links.get(token);
    links.delete(token);
    const said = known ? { code: codeFor(known.user, known.challenge) } : { error: "access_denied", error_code: "otp_expired", error_description: "Email link is invalid or has expired" };
    return [303, "", { Location: `${known?.back ?? back}?${new URLSearchParams(said)}` }];
  };

  const consent = (q) => {
    const back = (answer) => `${q.get("redirect_to")}?${new URLSearchParams(answer)}`.replaceAll("&", "&amp;");
    const code = codeFor(userOf(`ann@${q.get("provider")}.example`), q.get("code_challenge"));
    const refused = { error: "access_denied", error_description: "The user denied the request" };
    return [200, `<!doctype html><html lang="en"><title>Provider</title><h1>Palaver wants to know who you are</h1><a href="${back({ code })}">Allow</a> <a href="${back(refused)}">Cancel</a>`, { "Content-Type": "text/html" }];
  };

  const bearer = (req) => JSON.parse(Buffer.from((req.headers.authorization ?? "..").split(".")[1], "base64url").toString() || "{}");

  const answer = (req, at, body) => {
    const q = at.searchParams;
    const path = at.pathname.replace("/auth/v1", "");
    if (req.method === "GET" && path === "/authorize") return consent(q);
    if (req.method === "GET" && path === "/verify") return follow(q.get("token"), q.get("redirect_to"));
    if (path === "/favicon.ico") return [204, ""];
    if (req.headers.apikey !== "public") return failed(401, "no_authorization");
    if (path === "/user") return [200, userOf(bearer(req).email)];
    if (path === "/logout") return [204, ""];
    if (auth.limited) return failed(429, "over_request_rate_limit");
    if (path === "/token") return grants[q.get("grant_type")](body);
    if (path === "/otp") return mail(body.email, body.code_challenge, q.get("redirect_to"));
    if (path === "/verify") return body.token === auth.mails.at(-1)?.code ? session(userOf(body.email)) : failed(403, "otp_expired");
    if (path === "/signup") {
      if (people[body.email] !== undefined) return failed(422, "user_already_exists");
      if (body.password.length < 8) return failed(422, "weak_password");
      people[body.email] = body.password;
      return session(userOf(body.email));
    }
    return failed(404, "not_found");
  };

  const server = createServer(async (req, res) => {
    const at = new URL(req.url, url());
    if (req.method === "OPTIONS") return res.writeHead(204, CORS).end();
    auth.asked.push(`${req.method} ${at.pathname}${at.searchParams.has("grant_type") ? ` ${at.searchParams.get("grant_type")}` : ""}`);
    let text = "";
    for await (const piece of req) text += piece;
    const [status, body, headers] = answer(req, at, text ? JSON.parse(text) : {});
    if (at.searchParams.get("grant_type") === "refresh_token" && auth.lost-- > 0) return res.destroy();
    res.writeHead(status, { "Content-Type": "application/json", ...CORS, ...headers }).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(auth, {
    get url() {
      return url();
    },
    /** What the server under test needs. */
    settings: { SUPABASE_URL: url(), SUPABASE_ANON_KEY: "public", SUPABASE_JWT_SECRET: SECRET, SUPABASE_SIGN_IN: "google,password,link" },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  });
}
