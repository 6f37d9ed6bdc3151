import { local, session } from "../lib/storage";

/** The storage key of the session, which auth-js or oidc.ts stores. */
export const SESSION_KEY = "palaver.session";
const PENDING_KEY = "palaver.signIn";

/** A sign-in that was started in this browser. It is stored until the conversations of this browser have been moved to the account. */
export interface PendingSignIn {
  /** The path of the page where the sign-in was started. */
  path: string;
}

/** Stores that a sign-in was started on this page. Call it before the sign-in request. */
export const savePendingSignIn = (): void => local.write(PENDING_KEY, JSON.stringify({ path: location.pathname }));

export const clearPendingSignIn = (): void => local.write(PENDING_KEY, null);

/** The stored sign-in; undefined if none was started. Its path is always on this site: an invalid path becomes "/". */
export function pendingSignIn(): PendingSignIn | undefined {
  const raw = local.readJSON(PENDING_KEY) as Partial<PendingSignIn> | null;
  if (typeof raw !== "object" || raw === null) return undefined;
  const path = raw.path;
  return { path: typeof path === "string" && /^\/(?!\/)[\w/-]*$/.test(path) ? path : "/" };
}

/** The user id in a stored session (JSON); undefined if there is none. */
export function userIdOf(stored: string | null): string | undefined {
  try {
    const id: unknown = (JSON.parse(stored ?? "null") as { user?: { id?: unknown } } | null)?.user?.id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a stored session (JSON) is one of an OpenID Connect provider. */
export function isOfOIDC(stored: string | null): boolean {
  try {
    return typeof (JSON.parse(stored ?? "null") as { issuer?: unknown } | null)?.issuer === "string";
  } catch {
    return false;
  }
}

const FLOW_KEY = "palaver.oidc";

/** A redirect to an OpenID Connect provider, which this tab waits for the end of. */
export interface OIDCFlow {
  state: string;
  nonce: string;
  verifier: string;
  /** Whose session it renews, and the path of the page; left out: a person signs in. */
  renews?: { user: string; path: string };
}

export const saveOIDCFlow = (flow: OIDCFlow | undefined): void => session.write(FLOW_KEY, flow ? JSON.stringify(flow) : null);

/** The redirect that this tab has begun; undefined if there is none. */
export function oidcFlow(): OIDCFlow | undefined {
  const flow = session.readJSON(FLOW_KEY) as Partial<OIDCFlow> | null;
  return typeof flow?.state === "string" && typeof flow.nonce === "string" && typeof flow.verifier === "string" ? (flow as OIDCFlow) : undefined;
}

/** Whether an OpenID Connect provider sends the browser back with this URL, and this tab has asked for it. */
export function isReturnFromOIDC(address: URL): boolean {
  const state = address.searchParams.get("state");
  return state !== null && state === oidcFlow()?.state;
}

const PARAMETERS = ["code", "sb_flow_id", "error", "error_code", "error_description", "access_token", "refresh_token"];

/** The parameters, from the query and the fragment, with which Supabase redirects the browser back; undefined if the URL has none of them. */
export function returnParameters(address: URL): URLSearchParams | undefined {
  const params = new URLSearchParams(address.search);
  for (const [name, value] of new URLSearchParams(address.hash.slice(1))) params.set(name, value);
  return PARAMETERS.some((name) => params.has(name)) ? params : undefined;
}
