import { AuthClient, type AuthError, type Session as AuthSession } from "@supabase/auth-js";
import { ApiError, errorOf, fromPage, unreachable } from "../api/http";
import type { SignIn } from "../api/config";
import { forget } from "../lib/storage";
import type { Account, Session } from "./account";
import { begin, begun, comeBack, ended, SESSION_KEY, userOf } from "./begun";
import { downloadWithToken } from "./downloads";
import { problemOf, problemOfReturn, type SignInProblem } from "./problems";
import { setTokens, withToken, type Tokens } from "./token";

// PKCE: a link or a provider's answer opens a session only in the browser that asked for it.
function client({ url, key }: SignIn): Auth {
  return new AuthClient({ url: `${url}/auth/v1`, headers: { apikey: key }, storageKey: SESSION_KEY, flowType: "pkce", persistSession: true, autoRefreshToken: true, detectSessionInUrl: true });
}
type Auth = InstanceType<typeof AuthClient>;

let opened: Auth | undefined;
const clientOf = (signIn: SignIn): Auth => (opened ??= client(signIn));

/** Opens the stored session, or the one that the address brings. */
export async function open(signIn: SignIn): Promise<Session> {
  const said = comeBack(new URL(location.href));
  const auth = clientOf(signIn);
  const { error } = await auth.initialize();
  const session = await stored(auth);
  if (said) history.replaceState(history.state, "", session && !error ? (begun()?.path ?? "/") : location.pathname);
  if (!session) return said ? { problem: error && !said.has("error") ? problemOf(error).text : problemOfReturn(said) } : {};
  const tokens = tokensOf(auth, session.access_token);
  const claimed = await claimBegun(tokens);
  setTokens(tokens);
  downloadWithToken();
  leaveWhenSignedOut(auth, session.user.id);
  return { account: accountOf(session), ...(claimed && { claimed }), ...(said && error && { problem: problemOf(error).text }) };
}

/** The session, also while it cannot be refreshed. */
async function stored(auth: Auth): Promise<AuthSession | undefined> {
  const { data } = await auth.getSession();
  if (data.session) return data.session;
  const kept = localStorage.getItem(SESSION_KEY);
  return userOf(kept) ? (JSON.parse(kept!) as AuthSession) : undefined;
}

function accountOf({ user }: AuthSession): Account {
  const name: unknown = user.email || user.phone || user.user_metadata?.name;
  return { id: user.id, name: typeof name === "string" ? name : "" };
}

/** The tokens of the client's session. */
export function tokensOf(auth: Pick<Auth, "getSession" | "refreshSession">, first: string): Tokens {
  let newest = first;
  let useless: string | undefined; // was new, and refused all the same
  return {
    async current() {
      const { data, error } = await auth.getSession();
      if (data.session) return (newest = data.session.access_token);
      if (error) throw unreachable();
      return undefined; // signed out
    },
    async renew(refused) {
      const { data } = await auth.getSession();
      const now = data.session?.access_token;
      if (now && now !== refused) return (newest = now);
      if (refused === useless) return undefined;
      const { data: renewed } = await auth.refreshSession();
      if (!renewed.session) return undefined;
      return (newest = useless = renewed.session.access_token);
    },
    newest: () => newest,
  };
}

let watching: { unsubscribe: () => void } | undefined;

/** Without its session the page would act for somebody else: it begins anew. */
function leaveWhenSignedOut(auth: Auth, user: string): void {
  watching = auth.onAuthStateChange((event, session) => {
    if (event === "SIGNED_OUT" || (session && session.user.id !== user)) location.reload();
  }).data.subscription;
}

// Conversations of this browser.

const CLAIM_TRIES = 3;
const CLAIM_WAIT_MS = 1_500;
const CLAIM_LATER_MS = 5_000;

interface Claim {
  conversations: number;
  documents: number;
  left: number;
}

/** Takes along what this browser has stored without an account. What is in use follows later. */
async function claimBegun(tokens: Tokens): Promise<number> {
  if (!begun()) return 0;
  let taken = 0;
  for (let n = 0; n < CLAIM_TRIES; n++) {
    if (n > 0) await new Promise((go) => setTimeout(go, CLAIM_WAIT_MS));
    try {
      const { conversations, left } = await claim(tokens);
      taken += conversations;
      if (left === 0) {
        ended();
        return taken;
      }
    } catch (err) {
      if (!(err instanceof ApiError) || !err.transient) break; // the next visit tries again
    }
  }
  claimLater(tokens);
  return taken;
}

function claimLater(tokens: Tokens): void {
  const again = async () => {
    try {
      const { conversations, documents, left } = await claim(tokens);
      if (left === 0) ended();
      if (conversations > 0 && location.pathname.startsWith("/chat/")) return location.reload(); // the page may be one of them
      if (conversations + documents > 0) await (await import("../api/query")).queries.invalidateQueries();
      if (left === 0) return;
    } catch (err) {
      if (err instanceof ApiError && err.status === 403) return;
    }
    setTimeout(() => void again(), CLAIM_LATER_MS);
  };
  setTimeout(() => void again(), CLAIM_LATER_MS);
}

async function claim(tokens: Tokens): Promise<Claim> {
  let res: Response;
  try {
    res = await fetch("/api/me/claim", { method: "POST", headers: withToken(fromPage(), await tokens.current()) });
  } catch {
    throw unreachable();
  }
  if (!res.ok) throw await errorOf(res);
  return (await res.json()) as Claim;
}

// What a person does.

type Outcome = SignInProblem | undefined;

/** The page begins anew with its account. */
const enter = (error: AuthError | null): Outcome => {
  if (error) return problemOf(error);
  location.reload();
  return undefined;
};

const backHere = (): string => `${location.origin}/`;

export async function withPassword(signIn: SignIn, email: string, password: string): Promise<Outcome> {
  begin();
  return enter((await clientOf(signIn).signInWithPassword({ email, password })).error);
}

/** Creates an account; confirm says that its email address must be confirmed first. */
export async function createAccount(signIn: SignIn, email: string, password: string): Promise<{ problem?: SignInProblem; confirm?: boolean }> {
  begin();
  const { data, error } = await clientOf(signIn).signUp({ email, password, options: { emailRedirectTo: backHere() } });
  if (!error && !data.session) return { confirm: true };
  const problem = enter(error);
  return problem ? { problem } : {};
}

/** Sends an email with a link. */
export async function sendLink(signIn: SignIn, email: string): Promise<Outcome> {
  begin();
  const { error } = await clientOf(signIn).signInWithOtp({ email, options: { emailRedirectTo: backHere() } });
  return error ? problemOf(error) : undefined;
}

/** Signs in with the code of an email. */
export async function withCode(signIn: SignIn, email: string, token: string): Promise<Outcome> {
  begin();
  return enter((await clientOf(signIn).verifyOtp({ email, token, type: "email" })).error);
}

/** Goes to a provider's page. */
export async function withProvider(signIn: SignIn, provider: string): Promise<Outcome> {
  begin();
  const { error } = await clientOf(signIn).signInWithOAuth({ provider: provider as "github", options: { redirectTo: backHere() } });
  return error ? problemOf(error) : undefined;
}

/** Ends the session of this browser and removes what the page has stored. Without a connection, Supabase keeps its end of the session until it expires. */
export async function signOutOfAccount(): Promise<void> {
  watching?.unsubscribe();
  const auth = opened;
  opened = undefined;
  auth?.stopAutoRefresh();
  await auth?.signOut({ scope: "local" }).catch(() => undefined);
  setTokens(undefined);
  forget();
  location.assign("/");
}
