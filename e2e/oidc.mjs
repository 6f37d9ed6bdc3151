// An OpenID Connect provider (oidc-provider) with one client, the page. It asks people for
// nothing but whether they allow it.
import { createHash, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

function newKey() {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "ES256" };
}

const html = (body) => `<!doctype html><html lang="en"><title>Provider</title><body>${body}</body></html>`;

/** page: the address of the page that signs in. */
export async function startOIDC(page) {
  const oidc = {
    /** Who signs in. */
    login: "ann",
    /** The groups of whoever signs in. */
    groups: ["staff"],
    /** Seconds until a new id token expires. The server accepts it 30 s longer. */
    lifetime: 3600,
    /** Whether the token endpoint answers nothing. */
    down: false,
    /** Requests for tokens, by grant. */
    grants: [],
    /** All requests but those of people. */
    asked: [],
    /** Whether it has no metadata of RFC 8414. */
    openIDOnly: false,
  };
  let provider, handle;

  /** Begins anew, with other keys. All sessions end. */
  oidc.rotate = () => {
    provider = new Provider(oidc.url, {
      clients: [{ client_id: "palaver", token_endpoint_auth_method: "none", redirect_uris: [`${page}/`], post_logout_redirect_uris: [`${page}/`], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], id_token_signed_response_alg: "ES256" }],
      jwks: { keys: [newKey()] },
      clientBasedCORS: () => true,
      conformIdTokenClaims: false,
      claims: { openid: ["sub", "groups"], email: ["email"], profile: ["name"] },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com`, name: id, groups: oidc.groups }) }),
      clientDefaults: { id_token_signed_response_alg: "ES256", token_endpoint_auth_method: "none" },
      issueRefreshToken: () => true,
      ttl: { IdToken: () => oidc.lifetime, AccessToken: 3600, RefreshToken: 86_400, Interaction: 3600, Session: 86_400, Grant: 86_400 },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      loadExistingGrant: async ({ oidc: { client, session, resourceServers = {} } }) => {
        const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
        grant.addOIDCScope("openid profile email");
        for (const resource of Object.keys(resourceServers)) grant.addResourceScope(resource, "openid profile email");
        await grant.save();
        return grant;
      },
      features: {
        devInteractions: { enabled: false },
        registration: { enabled: true },
        // An access token for a resource is a JWT with its address as the audience.
        resourceIndicators: { enabled: true, getResourceServerInfo: (_, resource) => ({ scope: "openid profile email", audience: resource, accessTokenFormat: "jwt", jwt: { sign: { alg: "ES256" } } }) },
        rpInitiatedLogout: {
          logoutSource: (ctx, form) => {
            ctx.body = html(`${form}<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out at the provider</button>`);
          },
        },
      },
      cookies: { keys: [randomUUID()] },
    });
    handle = provider.callback();
  };

  const interact = async (req, res, { pathname }) => {
    const answers = { allow: { login: { accountId: oidc.login } }, refuse: { error: "access_denied", error_description: "The person said no" } };
    const answer = answers[pathname.split("/")[3]];
    if (answer) return provider.interactionFinished(req, res, answer);
    res.writeHead(200, { "Content-Type": "text/html" }).end(html(`<h1>Who are you?</h1><a href="${pathname}/allow">Allow</a> <a href="${pathname}/refuse">Cancel</a>`));
  };

  /** Signs in without a browser: follows an address of the provider, allows what it asks, and returns where it sends the browser. */
  oidc.allow = async (start) => {
    const cookies = new Map();
    for (let next = new URL(start); ; ) {
      if (next.origin !== oidc.url) return next;
      const res = await fetch(next.pathname.startsWith("/interaction/") ? `${next.href}/allow` : next, { redirect: "manual", headers: { cookie: [...cookies].map((c) => c.join("=")).join("; ") } });
      for (const set of res.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set);
        cookies.set(name, value);
      }
      next = new URL(res.headers.get("location"), oidc.url);
    }
  };

  /** Signs in without a browser, and returns an id token. */
  oidc.token = async () => {
    const verifier = randomUUID() + randomUUID();
    const at = new URL("/auth", oidc.url);
    const asked = { response_type: "code", client_id: "palaver", scope: "openid", redirect_uri: `${page}/`, code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256" };
    for (const [name, value] of Object.entries(asked)) at.searchParams.set(name, value);
    const code = (await oidc.allow(at)).searchParams.get("code");
    const body = new URLSearchParams({ grant_type: "authorization_code", client_id: "palaver", redirect_uri: `${page}/`, code, code_verifier: verifier });
    return (await (await fetch(`${oidc.url}/token`, { method: "POST", body })).json()).id_token;
  };

  const server = createServer((req, res) => {
    const at = new URL(req.url, oidc.url);
    if (at.pathname.startsWith("/interaction/")) return void interact(req, res, at).catch(() => res.destroy());
    oidc.asked.push(`${req.method} ${at.pathname}`);
    if (oidc.openIDOnly && at.pathname === "/.well-known/oauth-authorization-server") return res.writeHead(404).end();
    if (at.pathname === "/favicon.ico") return res.writeHead(204).end();
    if (req.method === "POST" && at.pathname === "/token") {
      if (oidc.down) return res.destroy();
      oidc.grants.push(at.pathname);
    }
    handle(req, res);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  oidc.url = `http://127.0.0.1:${server.address().port}`;
  oidc.rotate();
  return Object.assign(oidc, {
    /** What the server under test needs. */
    settings: { OIDC_ISSUER: oidc.url, OIDC_CLIENT_ID: "palaver", PORT: new URL(page).port },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  });
}
