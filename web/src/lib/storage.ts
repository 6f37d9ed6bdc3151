/**
 * A storage of the browser's. What it does not take, because it is full or
 * forbidden, this page remembers itself until it is left: without storage the
 * page works, and forgets.
 */
class Kept {
  private readonly memory = new Map<string, string>();

  /** A forbidden storage throws as soon as it is named, so it is named only here. */
  constructor(private readonly storage: () => Storage) {}

  /** Reads a value; null when there is none. */
  read(key: string): string | null {
    try {
      return this.memory.get(key) ?? this.storage().getItem(key);
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
      if (value === null) this.storage().removeItem(key);
      else this.storage().setItem(key, value);
    } catch {
      if (value !== null) this.memory.set(key, value);
    }
  }

  clear(): void {
    this.memory.clear();
    try {
      this.storage().clear();
    } catch {
      // Nothing was kept.
    }
  }
}

/** Removes what the page keeps of a person: drafts, unsent messages, choices. */
export function forget(): void {
  for (const kept of [local, session]) kept.clear();
}

/** For every tab, and for the next visit. */
export const local = new Kept(() => localStorage);

/** For this tab: over a reload, but no longer. */
export const session = new Kept(() => sessionStorage);
