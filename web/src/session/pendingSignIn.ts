import { local } from "../lib/storage";

/** The storage key under which auth-js stores the session. */
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

const PARAMETERS = ["code", "sb_flow_id", "error", "error_code", "error_description", "access_token", "refresh_token"];

/** The parameters, from the query and the fragment, with which Supabase redirects the browser back; undefined if the URL has none of them. */
export function returnParameters(address: URL): URLSearchParams | undefined {
  const params = new URLSearchParams(address.search);
  for (const [name, value] of new URLSearchParams(address.hash.slice(1))) params.set(name, value);
  return PARAMETERS.some((name) => params.has(name)) ? params : undefined;
}
