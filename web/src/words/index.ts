// The texts of the page. English is part of the page; another language is fetched
// before the first render if the browser asks for it. Components must read words.…
// while they render, not when their module is loaded.

import { en } from "./en";
import { setLocale } from "./intl";
import type { Words } from "./types";

export let words: Words = en;

const translations: Record<string, () => Promise<Words>> = {
  de: async () => (await import("./de")).de,
};

const languageOf = (tag: string): string => tag.toLowerCase().split("-")[0]!;

/** The first of the wanted languages that the page has; English if it has none. */
export const chosen = (wanted: readonly string[]): string => wanted.find((tag) => languageOf(tag) === "en" || languageOf(tag) in translations) ?? "en";

/** Sets the language of the page. If its file cannot be loaded, the page is in English. */
export async function loadLanguage(wanted: readonly string[]): Promise<void> {
  let tag = chosen(wanted);
  try {
    words = (await translations[languageOf(tag)]?.()) ?? en;
  } catch {
    tag = "en";
  }
  setLocale(tag);
  document.documentElement.lang = tag;
}
