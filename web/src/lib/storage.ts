/** What the chat in a frame keeps is apart from what the page keeps: browsers give both the same storage when the page around the frame is of the same site. */
const AREA = typeof location !== "undefined" && location.pathname === "/embed" ? "frame:" : "";

/**
 * A browser storage. Values that it refuses, because it is full or blocked, are kept
 * in memory until the page unloads: without storage the page works, but
 * keeps nothing for the next visit.
 */
class SafeStorage {
  private readonly memory = new Map<string, string>();

  /** Merely accessing a blocked storage throws, so all access goes through here. */
  constructor(private readonly storage: () => Storage) {}

  /** Reads a value; null when there is none. */
  read(key: string): string | null {
    try {
      return this.memory.get(key) ?? this.storage().getItem(AREA + key);
    } catch {
      return null;
    }
  }

  readJSON(key: string): unknown {
    try {
      return JSON.parse(this.read(key) ?? "null");
    } catch {
      return null;
    }
  }

  /** Writes a value, or removes it (null). */
  write(key: string, value: string | null): void {
    this.memory.delete(key);
    try {
      if (value === null) this.storage().removeItem(AREA + key);
      else this.storage().setItem(AREA + key, value);
    } catch {
      if (value !== null) this.memory.set(key, value);
    }
  }

  clear(): void {
    this.memory.clear();
    try {
      this.storage().clear();
    } catch {
      // The storage is blocked: there is nothing to remove.
    }
  }
}

/** Deletes everything that the page stores: drafts, unsent messages, choices, the session. */
export function clearStorage(): void {
  for (const kept of [local, session]) kept.clear();
}

/** Shared by all tabs and kept for the next visit. */
export const local = new SafeStorage(() => localStorage);

/** For this tab only; survives a reload. */
export const session = new SafeStorage(() => sessionStorage);
