// The words of the page. English is part of the page; another language is
// fetched before the first render by those who read it. Components read
// words.… while they render, not when their module is loaded.

import { en } from "./en";
import { setLocale } from "./intl";

/** English texts as a type that other languages have to fill. */
type Translated<T> = T extends string ? string : T extends (...args: infer A) => string ? (...args: A) => string : { readonly [K in keyof T]: Translated<T[K]> };

export type Words = Translated<typeof en>;

export let words: Words = en;

const translations: Record<string, () => Promise<Words>> = {
  de: async () => (await import("./de")).de,
};

const languageOf = (tag: string): string => tag.toLowerCase().split("-")[0]!;

/** The first language of the browser that the page is written in; English when there is none. */
export const chosen = (wanted: readonly string[]): string => wanted.find((tag) => languageOf(tag) === "en" || languageOf(tag) in translations) ?? "en";

/** Sets the language of the page. Without its file the page is English. */
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
