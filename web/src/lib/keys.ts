import { words } from "../words";

/** Whether Command does here what Ctrl does elsewhere. */
export const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** The name of that key. */
export const commandKey = (): string => (mac ? "⌘" : words.shortcuts.keys.ctrl);
