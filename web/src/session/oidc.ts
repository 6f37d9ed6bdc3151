import * as oauth from "oauth4webapi";
import { config, type OIDC } from "../api/config";
import { unreachable } from "../api/http";
import { clearStorage, local } from "../lib/storage";
import { words } from "../words";
import { leave, type Session } from "./account";
import { claimConversations } from "./claim";
import { downloadWithToken } from "./downloads";
import { isOfOIDC, isReturnFromOIDC, oidcFlow, pendingSignIn, saveOIDCFlow, savePendingSignIn, SESSION_KEY, type OIDCFlow } from "./pendingSignIn";
import { problemOf, type SignInProblem } from "./problems";
import { setTokens, type Tokens } from "./token";

/** The stored session. */
interface Kept {
  issuer: string;
  user: { id: string; name: string };
  /** What requests to the server send. */
  token: string;
  /** When the token expires, in milliseconds. */
  expires: number;
  /** How long before its end the token is renewed, in milliseconds. */
  early?: number;
  /** Left out: the provider has given none, or has refused it. It is not asked again then. */
  refresh?: string;
  /** Says to the provider whose session ends. */
  idToken: string;
}

/** How long before its end a token is renewed, at most: one that lasts two minutes or less is renewed after half of its time. */
const EARLY_MS = 60_000;
/** Only one tab renews at a time: a provider may end a session whose refresh token is used twice. */
const LOCK = "palaver.session";

const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];

const server = (oidc: OIDC): oauth.AuthorizationServer => ({
  issuer: oidc.issuer,
  authorization_endpoint: oidc.authorizationEndpoint,
  token_endpoint: oidc.tokenEndpoint,
  id_token_signing_alg_values_supported: ALGORITHMS,
});
const client = (oidc: OIDC): oauth.Client => ({ client_id: oidc.clientId, [oauth.clockTolerance]: 30 });
/** Only a provider on this machine may be without TLS; the server sees to that. */
const options = (oidc: OIDC) => ({ [oauth.allowInsecureRequests]: oidc.issuer.startsWith("http:"), signal: AbortSignal.timeout(15_000) });

const redirectUrl = (): string => `${location.origin}/`;

/** Redirects to the provider, or returns why that is not possible. */
export async function signIn(known: OIDC): Promise<SignInProblem | undefined> {
  const oidc = known.authorizationEndpoint ? known : (await config()).signIn?.oidc;
  if (!oidc?.authorizationEndpoint) return { text: words.signIn.problems.unreachable };
  savePendingSignIn();
  await redirect(oidc, {});
  return undefined;
}

/** Redirects to the provider. With renews, the provider shows no page: it answers for the person who is signed in there, or refuses. */
async function redirect(oidc: OIDC, { renews }: Pick<OIDCFlow, "renews">): Promise<void> {
  const flow: OIDCFlow = { state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier(), ...(renews && { renews }) };
  const to = new URL(oidc.authorizationEndpoint);
  const said = {
    response_type: "code",
    client_id: oidc.clientId,
    redirect_uri: redirectUrl(),
    scope: oidc.scopes,
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: "S256",
    ...(oidc.audience && { audience: oidc.audience }),
    ...(renews && { prompt: "none" }),
  };
  for (const [name, value] of Object.entries(said)) to.searchParams.set(name, value);
  saveOIDCFlow(flow);
  location.assign(to);
}

/** Opens the stored session, or the one that the URL contains after a redirect. */
export async function open(oidc: OIDC): Promise<Session> {
  const flow = oidcFlow();
  let problem: string | undefined;
  if (flow && isReturnFromOIDC(new URL(location.href))) {
    const returned = new URL(location.href);
    saveOIDCFlow(undefined);
    history.replaceState(history.state, "", flow.renews?.path ?? pendingSignIn()?.path ?? "/");
    try {
      keep(await redeem(oidc, flow, returned));
    } catch (err) {
      problem = problemOf({ code: flow.renews ? "session_ended" : reasonOf(err) }).text;
      if (flow.renews) local.write(SESSION_KEY, null);
    }
  } else if (flow?.renews) {
    saveOIDCFlow(undefined); // the provider did not send the browser back: it would not now
    local.write(SESSION_KEY, null);
    problem = words.signIn.problems.session_ended;
  }
  const kept = stored(oidc);
  if (!kept) return problem ? { problem } : {};
  const tokens = tokensOf(oidc, flow?.renews && kept.token);
  const claimed = await claimConversations(tokens);
  setTokens(tokens);
  downloadWithToken();
  return { account: kept.user, ...(claimed && { claimed }), ...(problem && { problem }) };
}

function reasonOf(err: unknown): string {
  if (err instanceof oauth.AuthorizationResponseError || err instanceof oauth.ResponseBodyError) return err.error;
  return err instanceof oauth.OperationProcessingError ? "unknown" : "unreachable";
}

/** Throws if the provider cannot answer now: that says nothing about the session. */
function answered(res: Response): Response {
  if (res.status >= 500 || res.status === 429) throw unreachable();
  return res;
}

const keep = (next: Kept): void => local.write(SESSION_KEY, JSON.stringify(next));

function stored(oidc: OIDC): Kept | undefined {
  if (!isOfOIDC(local.read(SESSION_KEY))) return undefined;
  const kept = local.readJSON(SESSION_KEY) as Kept;
  return kept.issuer === oidc.issuer ? kept : undefined;
}

async function redeem(oidc: OIDC, flow: OIDCFlow, returned: URL): Promise<Kept> {
  const as = server(oidc);
  const params = oauth.validateAuthResponse(as, client(oidc), returned, flow.state);
  const res = await oauth.authorizationCodeGrantRequest(as, client(oidc), oauth.None(), params, redirectUrl(), flow.verifier, options(oidc));
  const next = sessionOf(oidc, await oauth.processAuthorizationCodeResponse(as, client(oidc), answered(res), { expectedNonce: flow.nonce, requireIdToken: true }));
  if (flow.renews && flow.renews.user !== next.user.id) throw new oauth.OperationProcessingError("the session is of another person");
  return next;
}

async function refreshed(oidc: OIDC, kept: Kept): Promise<Kept> {
  const as = server(oidc);
  const res = await oauth.refreshTokenGrantRequest(as, client(oidc), oauth.None(), kept.refresh!, options(oidc));
  return sessionOf(oidc, await oauth.processRefreshTokenResponse(as, client(oidc), answered(res)), kept);
}

/** The session that a response of the provider gives. A refresh may leave out what has not changed. */
function sessionOf(oidc: OIDC, response: oauth.TokenEndpointResponse, before?: Kept): Kept {
  const claims = oauth.getValidatedIdTokenClaims(response);
  if (before && claims && claims.sub !== before.user.id) throw new oauth.OperationProcessingError("the session is of another person");
  const idToken = response.id_token ?? before?.idToken ?? "";
  const refresh = response.refresh_token ?? before?.refresh;
  const inSeconds = oidc.audience ? response.expires_in : claims && claims.exp - Date.now() / 1000;
  if (!oidc.audience && !claims) throw new oauth.OperationProcessingError("no id token");
  const lastsMs = (inSeconds ?? 300) * 1000;
  return {
    issuer: oidc.issuer,
    user: before?.user ?? { id: claims!.sub, name: nameOf(oidc, claims!) },
    token: oidc.audience ? response.access_token : idToken,
    expires: Date.now() + lastsMs,
    early: Math.min(EARLY_MS, lastsMs / 2),
    ...(refresh && { refresh }),
    idToken,
  };
}

function nameOf(oidc: OIDC, claims: oauth.IDToken): string {
  const name = claims[oidc.emailClaim] ?? claims[oidc.nameClaim];
  return typeof name === "string" ? name : "";
}

const lasts = (kept: Kept): boolean => kept.expires > Date.now() + (kept.early ?? EARLY_MS);

/** Never resolves: the page is about to unload. */
const unloading = () => new Promise<never>(() => {});

/** The tokens of the stored session, which all tabs share. lastRenewed is the newest one if it replaced another: if the server refuses it too, another refresh cannot help. */
export function tokensOf(oidc: OIDC, lastRenewed?: string): Tokens {
  let newest = stored(oidc)?.token;

  /** Renews a token that expires soon, or that the server has refused. */
  const renewed = (refused?: string): Promise<string | undefined> =>
    navigator.locks.request(LOCK, async () => {
      const kept = stored(oidc);
      if (!kept) return undefined; // signed out
      if (refused === undefined ? lasts(kept) : kept.token !== refused) return kept.token; // another tab or request has renewed it
      const unexpired = kept.expires > Date.now() && kept.token !== refused;
      const next = kept.refresh === undefined ? undefined : await refreshedOrRefused(kept, unexpired);
      if (next) return next;
      return unexpired ? kept.token : signInAgain(kept);
    });

  /** The new token; undefined if the provider has refused the refresh token. Its answer to an earlier refresh may have been lost in a reload: then it refuses the old one for ever. */
  async function refreshedOrRefused(kept: Kept, unexpired: boolean): Promise<string | undefined> {
    try {
      const next = await refreshed(oidc, kept);
      keep(next);
      return (lastRenewed = next.token);
    } catch (err) {
      if (reasonOf(err) === "unreachable") {
        if (unexpired) return kept.token;
        throw unreachable();
      }
      const { refresh: _, ...rest } = kept;
      keep(rest);
      return undefined;
    }
  }

  /** Gets a new session for the same person, without a question if they are signed in at the provider. The page comes back to where it is: a running answer goes on, and what was not sent is kept. */
  async function signInAgain(kept: Kept): Promise<undefined> {
    const now = oidc.authorizationEndpoint ? oidc : (await config()).signIn?.oidc;
    if (!now?.authorizationEndpoint) throw unreachable();
    await redirect(now, { renews: { user: kept.user.id, path: location.pathname } });
    return unloading();
  }

  const note = (token: string | undefined) => (newest = token);
  return {
    async current() {
      const kept = stored(oidc);
      if (!kept) return undefined;
      return note(lasts(kept) ? kept.token : await renewed());
    },
    async renew(refused) {
      if (refused === lastRenewed) return undefined;
      return note(await renewed(refused));
    },
    newest: () => newest,
  };
}

/** Ends the session of this browser and at the provider, and removes what the page has stored. */
export async function signOutOfAccount(): Promise<void> {
  const oidc = (await config().catch(() => undefined))?.signIn?.oidc;
  const kept = oidc && stored(oidc);
  await leave(async () => undefined);
  setTokens(undefined);
  clearStorage();
  if (!oidc?.endSessionEndpoint || !kept) return location.assign("/");
  const to = new URL(oidc.endSessionEndpoint);
  const said = { id_token_hint: kept.idToken, client_id: oidc.clientId, post_logout_redirect_uri: redirectUrl() };
  for (const [name, value] of Object.entries(said)) to.searchParams.set(name, value);
  location.assign(to);
}
