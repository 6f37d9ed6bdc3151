import { ApiError, errorOf, fromPage, unreachable } from "../api/http";
import { clearPendingSignIn, pendingSignIn } from "./pendingSignIn";
import { withToken, type Tokens } from "./token";

const CLAIM_TRIES = 3;
const CLAIM_WAIT_MS = 1_500;
const CLAIM_LATER_MS = 5_000;

interface Claim {
  conversations: number;
  documents: number;
  left: number;
}

/** Moves what this browser has stored without an account to the account, and returns the number of conversations. What is in use is moved later. */
export async function claimConversations(tokens: Tokens): Promise<number> {
  if (!pendingSignIn()) return 0;
  let taken = 0;
  for (let n = 0; n < CLAIM_TRIES; n++) {
    if (n > 0) await new Promise((go) => setTimeout(go, CLAIM_WAIT_MS));
    try {
      const { conversations, left } = await claim(tokens);
      taken += conversations;
      if (left === 0) {
        clearPendingSignIn();
        return taken;
      }
    } catch (err) {
      if (!(err instanceof ApiError) || !err.transient) break; // claimLater tries again
    }
  }
  claimLater(tokens);
  return taken;
}

function claimLater(tokens: Tokens): void {
  const again = async () => {
    try {
      const { conversations, documents, left } = await claim(tokens);
      if (left === 0) clearPendingSignIn();
      if (conversations > 0 && location.pathname.startsWith("/chat/")) return location.reload(); // this page may show one of them
      if (conversations + documents > 0) await (await import("../api/query")).queries.invalidateQueries();
      if (left === 0) return;
    } catch (err) {
      if (err instanceof ApiError && err.status === 403) return clearPendingSignIn(); // never allowed
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
