// The texts of the page. Only those of the reader's language are fetched, before the
// first render. Components must read words.… while they render, not when their module
// is loaded.

import { setLocale } from "./intl";
import type { Words } from "./types";

export let words: Words;

export const languages: Readonly<Record<string, () => Promise<Words>>> = {
  en: async () => (await import("./en")).en,
  de: async () => (await import("./de")).de,
};

const languageOf = (tag: string): string => tag.toLowerCase().split("-")[0]!;

/** The first of the wanted languages that the page has; English if it has none. */
export const chosen = (wanted: readonly string[]): string => wanted.find((tag) => Object.hasOwn(languages, languageOf(tag))) ?? "en";

/** Makes these the texts, numbers and dates of the page. */
export function speak(tag: string, its: Words): void {
  words = its;
  setLocale(tag);
}

/** Sets the language of the page. If its file cannot be loaded, the page is in English. */
export async function loadLanguage(wanted: readonly string[]): Promise<void> {
  let tag = chosen(wanted);
  const its = await languages[languageOf(tag)]!().catch(() => ((tag = "en"), languages.en!()));
  speak(tag, its);
  document.documentElement.lang = tag;
}
