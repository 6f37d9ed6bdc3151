import type { SignIn } from "../api/config";
import { local } from "../lib/storage";
import { words } from "../words";
import { setSession } from "./account";
import { comeBack, SESSION_KEY, userOf } from "./begun";

/** Finds out who is signed in, before the page sends its first request. Loads auth-js only where there is a session, or a sign-in comes back. */
export async function startSession(signIn: SignIn | undefined): Promise<void> {
  if (!signIn) return;
  watchOtherTabs();
  if (!userOf(local.read(SESSION_KEY)) && !comeBack(new URL(location.href))) return;
  try {
    const { open } = await import("./supabase");
    setSession(await open(signIn));
  } catch {
    setSession({ problem: words.signIn.problems.unreachable });
  }
}

/** Another tab has signed in or out: what this one shows belongs to somebody else. */
function watchOtherTabs(): void {
  addEventListener("storage", (e) => {
    if (e.key !== SESSION_KEY && e.key !== null) return;
    const now = e.key === null ? undefined : userOf(e.newValue);
    if (now !== (e.key === null ? undefined : userOf(e.oldValue)) || e.key === null) location.reload();
  });
}
