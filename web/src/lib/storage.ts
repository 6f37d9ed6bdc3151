/** Reads a value; null when there is none, or no storage. */
export function read(storage: Storage, key: string): string | null {
  try {
    return storage.getItem(key);
  } catch {
    return null;
  }
}

/** Writes a value, or removes it (null). A storage that is full or forbidden loses it, which nothing here may depend on. */
export function write(storage: Storage, key: string, value: string | null): void {
  try {
    if (value === null) storage.removeItem(key);
    else storage.setItem(key, value);
  } catch {
    // as said
  }
}

export function readJSON(storage: Storage, key: string): unknown {
  try {
    return JSON.parse(read(storage, key) ?? "null");
  } catch {
    return null;
  }
}
