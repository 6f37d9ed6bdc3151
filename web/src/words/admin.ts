// The texts of the page of administrators. They are in separate files, because few people see it.

import { adminWords as en } from "./admin.en";
import type { AdminWords } from "./types";

export let adminWords: AdminWords = en;

const translations: Record<string, () => Promise<AdminWords>> = {
  de: async () => (await import("./admin.de")).adminWords,
};

/** Sets the language of the page of administrators; call it after loadLanguage. If its file cannot be loaded, the page is in English. */
export async function loadAdminWords(tag = document.documentElement.lang): Promise<void> {
  adminWords = (await translations[tag.toLowerCase().split("-")[0]!]?.().catch(() => en)) ?? en;
}
