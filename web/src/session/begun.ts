import { local } from "../lib/storage";

/** Where auth-js keeps the session. */
export const SESSION_KEY = "palaver.session";
const BEGUN_KEY = "palaver.signIn";

/** A sign-in that began in this browser. It is kept until the conversations of the browser have come along. */
export interface Begun {
  /** Where the page was. */
  path: string;
}

/** Call it before a sign-in is sent. */
export const begin = (): void => local.write(BEGUN_KEY, JSON.stringify({ path: location.pathname }));

export const ended = (): void => local.write(BEGUN_KEY, null);

/** The sign-in that began here; its path is one of this page. */
export function begun(): Begun | undefined {
  const raw = local.readJSON(BEGUN_KEY) as Partial<Begun> | null;
  if (typeof raw !== "object" || raw === null) return undefined;
  const path = raw.path;
  return { path: typeof path === "string" && /^\/(?!\/)[\w/-]*$/.test(path) ? path : "/" };
}

/** The user of a stored session, as text; undefined without one. */
export function userOf(stored: string | null): string | undefined {
  try {
    const id: unknown = (JSON.parse(stored ?? "null") as { user?: { id?: unknown } } | null)?.user?.id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

const PARAMETERS = ["code", "sb_flow_id", "error", "error_code", "error_description", "access_token", "refresh_token"];

/** What Supabase says in the address when it sends the browser back; undefined when it says nothing. */
export function comeBack(address: URL): URLSearchParams | undefined {
  const said = new URLSearchParams(address.search);
  for (const [name, value] of new URLSearchParams(address.hash.slice(1))) said.set(name, value);
  return PARAMETERS.some((name) => said.has(name)) ? said : undefined;
}
