// The texts of discovery boards. They are in separate files, because few pages show a board.

import { boardWords as en } from "./discovery.en";
import type { BoardWords } from "./types";

export let boardWords: BoardWords = en;

const translations: Record<string, () => Promise<BoardWords>> = {
  de: async () => (await import("./discovery.de")).boardWords,
};

/** Sets the language of boards to that of the page; call it after loadLanguage. If its file cannot be loaded, boards are in English. */
export async function loadDiscoveryWords(tag = document.documentElement.lang): Promise<void> {
  boardWords = (await translations[tag.toLowerCase().split("-")[0]!]?.().catch(() => en)) ?? en;
}
