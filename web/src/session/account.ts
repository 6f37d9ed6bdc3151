import { useSyncExternalStore } from "react";

/** The account that is signed in. */
export interface Account {
  id: string;
  /** The email address, else the phone number or the name from the provider; may be empty. */
  name: string;
}

/** The session of this page. Without an account, nobody is signed in. */
export interface Session {
  account?: Account;
  /** Why a sign-in by a link or a provider failed, as a sentence. */
  problem?: string;
  /** How many conversations of this browser the sign-in moved to the account. */
  claimed?: number;
  /** Whether the user is signing out or deleting everything. The page then shows no thread, board or document: requests for them would fail. */
  leaving?: boolean;
}

let session: Session = {};
const listeners = new Set<() => void>();

export function setSession(next: Session): void {
  session = next;
  for (const changed of listeners) changed();
}

/** Sends the requests that sign out or delete everything. If they fail, the page shows everything again. */
export async function leave(send: () => Promise<unknown>): Promise<void> {
  setSession({ ...session, leaving: true });
  try {
    await send();
  } catch (err) {
    setSession({ ...session, leaving: false });
    throw err;
  }
}

const subscribe = (changed: () => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};

export const currentSession = (): Session => session;
export const useSession = (): Session => useSyncExternalStore(subscribe, currentSession);
