// JSON as people read it: nothing in it is hidden, and no number is rounded.

export type Arguments = Readonly<Record<string, unknown>>;

/** Characters that are invisible or change the text direction, except the two emoji variation selectors. */
const UNSEEN = /(?![\ufe0e\ufe0f])[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\x7f-\x9f]/gu;

const escaped = (c: string): string => c.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");

/** Escapes invisible characters as JSON does. */
export const escapeUnseen = (text: string): string => text.replace(UNSEEN, escaped);

/** Whether a parsed value has no integer that JavaScript may have rounded. */
export function hasExactNumbers(value: unknown): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  return typeof value !== "object" || value === null || Object.values(value).every(hasExactNumbers);
}

/** Formats JSON, also JSON in a string, and escapes invisible characters. Other strings, and JSON with integers that would be rounded, do not change. */
export function pretty(v: unknown): string {
  if (typeof v === "string") {
    if (!/^\s*[[{]/.test(v)) return v;
    try {
      const value: unknown = JSON.parse(v);
      return hasExactNumbers(value) ? pretty(value) : v;
    } catch {
      return v;
    }
  }
  return escapeUnseen(JSON.stringify(v, null, 2) ?? "");
}
