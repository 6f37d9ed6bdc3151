/** Whether Command does here what Ctrl does elsewhere. */
export const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** The name of that key. */
export const COMMAND = mac ? "⌘" : "Ctrl";
