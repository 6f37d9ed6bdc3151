import { createContext } from "react";

/** With whom a thread is shared. */
export interface Sharing {
  /** Whether others read it: then each message says who wrote it. */
  shared: boolean;
  /** Who shares it; absent for the person's own. It can then only be read, and copied. */
  author?: string;
  /** Changes when its author goes on. */
  changed?: string;
}

export const Shared = createContext<Sharing>({ shared: false });
