import { words } from "../words";

/** Whether this is a Mac, where Command replaces Ctrl. */
export const mac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** The name of Ctrl or Command. */
export const commandKey = (): string => (mac ? "⌘" : words.shortcuts.keys.ctrl);
