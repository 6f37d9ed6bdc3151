import type { adminWords } from "./admin.en";
import type { boardWords } from "./discovery.en";
import type { en } from "./en";

/** The type of English texts, which other languages must implement. */
type Translated<T> = T extends string ? string : T extends (...args: infer A) => string ? (...args: A) => string : { readonly [K in keyof T]: Translated<T[K]> };

export type Words = Translated<Omit<typeof en, "texts">> & Pick<typeof en, "texts">;

/** The texts of the page of administrators. */
export type AdminWords = Translated<typeof adminWords>;

/** The texts of discovery boards. */
export type BoardWords = Translated<typeof boardWords>;
