import type { SignIn } from "../api/config";
import { local } from "../lib/storage";
import { words } from "../words";
import { setSession } from "./account";
import { isOfOIDC, isReturnFromOIDC, returnParameters, SESSION_KEY, userIdOf } from "./pendingSignIn";

/** Finds out who is signed in. Call it before the page sends its first request. It loads a library for signing in only if there is a stored session, or if the URL is a redirect from a sign-in. */
export async function startSession(signIn: SignIn | undefined): Promise<void> {
  if (!signIn) return;
  watchOtherTabs();
  const { oidc, url } = signIn;
  if (isOfOIDC(local.read(SESSION_KEY)) ? !oidc : !url) local.write(SESSION_KEY, null); // of a provider that the server no longer has
  const kept = local.read(SESSION_KEY);
  const address = new URL(location.href);
  if (!userIdOf(kept) && !returnParameters(address)) return;
  try {
    if (oidc && (isReturnFromOIDC(address) || isOfOIDC(kept))) return setSession(await (await import("./oidc")).open(oidc));
    if (!url) {
      history.replaceState(history.state, "", location.pathname);
      return setSession({ problem: words.signIn.problems.other_browser }); // a code that another browser requested
    }
    const { open } = await import("./supabase");
    setSession(await open(signIn));
  } catch {
    setSession({ problem: words.signIn.problems.unreachable });
  }
}

/** Reloads the page when another tab signs in or out, because this tab then shows the data of another user. */
function watchOtherTabs(): void {
  addEventListener("storage", (e) => {
    if (e.key !== SESSION_KEY && e.key !== null) return;
    const now = e.key === null ? undefined : userIdOf(e.newValue);
    if (now !== (e.key === null ? undefined : userIdOf(e.oldValue)) || e.key === null) location.reload();
  });
}

/** Ends the session of this browser and removes what the page has stored. */
export async function signOutOfAccount(): Promise<void> {
  const { signOutOfAccount: end } = isOfOIDC(local.read(SESSION_KEY)) ? await import("./oidc") : await import("./supabase");
  await end();
}
