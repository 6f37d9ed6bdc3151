import { useSyncExternalStore } from "react";

/** Who is signed in. */
export interface Account {
  id: string;
  /** The email address, or what the provider has instead. */
  name: string;
}

/** What the page knows of the session. */
export interface Session {
  account?: Account;
  /** Why a sign-in by a link or a provider failed, as a sentence. */
  problem?: string;
  /** Conversations of this browser that came along with the sign-in. */
  claimed?: number;
}

let session: Session = {};
const listeners = new Set<() => void>();

export function setSession(next: Session): void {
  session = next;
  for (const changed of listeners) changed();
}

const subscribe = (changed: () => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};

export const currentSession = (): Session => session;
export const useSession = (): Session => useSyncExternalStore(subscribe, currentSession);
