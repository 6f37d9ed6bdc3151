// Numbers and dates as the reader's language and region write them.

let locale = "en";

/** Sets the tag that numbers and dates follow, for example "de-AT". */
export const setLocale = (tag: string): void => void (locale = tag);

export const number = (n: number, options?: Intl.NumberFormatOptions): string => n.toLocaleString(locale, options);

export const dateTime = (date: Date): string => date.toLocaleString(locale);

/** A day without its year: "12 Nov". */
export const day = (date: Date): string => date.toLocaleDateString(locale, { day: "numeric", month: "short" });

/** A day with its year: "12 Nov 2026". */
export const fullDay = (date: Date): string => date.toLocaleDateString(locale, { day: "numeric", month: "short", year: "numeric" });

/** A time of day: "7:55 PM", "19:55". */
export const clock = (date: Date): string => date.toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" });

/** A number with its noun: "1 document", "1,200 documents". */
export const count = (n: number, noun: { one: string; other: string }): string => `${number(n)} ${new Intl.PluralRules(locale).select(n) === "one" ? noun.one : noun.other}`;

/** A list of alternatives: "HTML or PDF". */
export const anyOf = (names: readonly string[]): string => new Intl.ListFormat(locale, { type: "disjunction" }).format(names);

/** A size in MB, rounded up: "3.1MB". */
export const megabytes = (bytes: number): string => `${number(Math.ceil((bytes * 10) / 2 ** 20) / 10)}MB`;
