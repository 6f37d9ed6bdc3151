import type { SignIn } from "../api/config";
import { local } from "../lib/storage";
import { words } from "../words";
import { setSession } from "./account";
import { returnParameters, SESSION_KEY, userIdOf } from "./pendingSignIn";

/** Finds out who is signed in. Call it before the page sends its first request. It loads auth-js only if there is a stored session, or if the URL is a redirect from a sign-in. */
export async function startSession(signIn: SignIn | undefined): Promise<void> {
  if (!signIn) return;
  watchOtherTabs();
  if (!userIdOf(local.read(SESSION_KEY)) && !returnParameters(new URL(location.href))) return;
  try {
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
