import { AuthClient, type AuthError, type Session as AuthSession } from "@supabase/auth-js";
import { unreachable } from "../api/http";
import type { SignIn } from "../api/config";
import { clearStorage } from "../lib/storage";
import { leave, type Account, type Session } from "./account";
import { claimConversations } from "./claim";
import { downloadWithToken } from "./downloads";
import { pendingSignIn, returnParameters, savePendingSignIn, SESSION_KEY, userIdOf } from "./pendingSignIn";
import { problemOf, problemOfReturn, type SignInProblem } from "./problems";
import { setTokens, type Tokens } from "./token";

// PKCE: a link or a redirect from a provider opens a session only in the browser that requested it.
function client({ url, key }: SignIn): Auth {
  return new AuthClient({ url: `${url}/auth/v1`, headers: { apikey: key }, storageKey: SESSION_KEY, flowType: "pkce", persistSession: true, autoRefreshToken: true, detectSessionInUrl: true });
}
type Auth = InstanceType<typeof AuthClient>;

let opened: Auth | undefined;
const clientOf = (signIn: SignIn): Auth => (opened ??= client(signIn));

/** Opens the stored session, or the one that the URL contains after a redirect. */
export async function open(signIn: SignIn): Promise<Session> {
  const returned = returnParameters(new URL(location.href));
  const auth = clientOf(signIn);
  const { error } = await auth.initialize();
  const session = await stored(auth);
  if (returned) history.replaceState(history.state, "", session && !error ? (pendingSignIn()?.path ?? "/") : location.pathname);
  if (!session) return returned ? { problem: error && !returned.has("error") ? problemOf(error).text : problemOfReturn(returned) } : {};
  const tokens = tokensOf(auth, session.access_token);
  const claimed = await claimConversations(tokens);
  setTokens(tokens);
  downloadWithToken();
  reloadWhenSignedOut(auth, session.user.id);
  return { account: accountOf(session), ...(claimed && { claimed }), ...(returned && error && { problem: problemOf(error).text }) };
}

/** The stored session, even if it has expired and cannot be refreshed now. */
async function stored(auth: Auth): Promise<AuthSession | undefined> {
  const { data } = await auth.getSession();
  if (data.session) return data.session;
  const kept = localStorage.getItem(SESSION_KEY);
  return userIdOf(kept) ? (JSON.parse(kept!) as AuthSession) : undefined;
}

function accountOf({ user }: AuthSession): Account {
  const name: unknown = user.email || user.phone || user.user_metadata?.name;
  return { id: user.id, name: typeof name === "string" ? name : "" };
}

/** The tokens of the client's session. first is its current access token. */
export function tokensOf(auth: Pick<Auth, "getSession" | "refreshSession">, first: string): Tokens {
  let newest = first;
  let lastRenewed: string | undefined; // if the server refuses it too, another refresh cannot help
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
      if (refused === lastRenewed) return undefined;
      const { data: renewed } = await auth.refreshSession();
      if (!renewed.session) return undefined;
      return (newest = lastRenewed = renewed.session.access_token);
    },
    newest: () => newest,
  };
}

let watching: { unsubscribe: () => void } | undefined;

/** Reloads the page when its session ends or changes to another user: it must not act for the wrong user. */
function reloadWhenSignedOut(auth: Auth, user: string): void {
  watching = auth.onAuthStateChange((event, session) => {
    if (event === "SIGNED_OUT" || (session && session.user.id !== user)) location.reload();
  }).data.subscription;
}

// User actions.

type Outcome = SignInProblem | undefined;

/** Reloads the page with the account, or returns why the sign-in failed. */
const reloadSignedIn = (error: AuthError | null): Outcome => {
  if (error) return problemOf(error);
  location.reload();
  return undefined;
};

const redirectUrl = (): string => `${location.origin}/`;

export async function signInWithPassword(signIn: SignIn, email: string, password: string): Promise<Outcome> {
  savePendingSignIn();
  return reloadSignedIn((await clientOf(signIn).signInWithPassword({ email, password })).error);
}

/** Creates an account. confirm is true if its email address must be confirmed first. */
export async function createAccount(signIn: SignIn, email: string, password: string): Promise<{ problem?: SignInProblem; confirm?: boolean }> {
  savePendingSignIn();
  const { data, error } = await clientOf(signIn).signUp({ email, password, options: { emailRedirectTo: redirectUrl() } });
  if (!error && !data.session) return { confirm: true };
  const problem = reloadSignedIn(error);
  return problem ? { problem } : {};
}

/** Sends an email with a link to sign in. */
export async function sendLink(signIn: SignIn, email: string): Promise<Outcome> {
  savePendingSignIn();
  const { error } = await clientOf(signIn).signInWithOtp({ email, options: { emailRedirectTo: redirectUrl() } });
  return error ? problemOf(error) : undefined;
}

/** Signs in with the code of an email. */
export async function signInWithCode(signIn: SignIn, email: string, token: string): Promise<Outcome> {
  savePendingSignIn();
  return reloadSignedIn((await clientOf(signIn).verifyOtp({ email, token, type: "email" })).error);
}

/** Redirects to the sign-in page of an OAuth provider. */
export async function signInWithProvider(signIn: SignIn, provider: string): Promise<Outcome> {
  savePendingSignIn();
  const { error } = await clientOf(signIn).signInWithOAuth({ provider: provider as "github", options: { redirectTo: redirectUrl() } });
  return error ? problemOf(error) : undefined;
}

/** Ends the session of this browser and removes what the page has stored. Without a connection, the session stays valid at Supabase until it expires. */
export async function signOutOfAccount(): Promise<void> {
  watching?.unsubscribe();
  const auth = opened;
  opened = undefined;
  auth?.stopAutoRefresh();
  await leave(async () => auth?.signOut({ scope: "local" }).catch(() => undefined));
  setTokens(undefined);
  clearStorage();
  location.assign("/");
}
