import { describe, expect, it } from "vitest";
import { plain } from "./plain";

describe("plain", () => {
  it.each([
    ["…rules**: “The pool closes at 21:00.” [1] _Offline engine: quoted from your documents, no language model is configured._", "…rules: “The pool closes at 21:00.”"],
    ["The pool closes [2].\n\n_Offline engine: quoted from your doc…", "The pool closes."],
    ["Das Becken schließt [2].\n\n_Offline-Engine: aus Ihren Dokumenten zit…", "Das Becken schließt."],
    ["## Opening hours\n- **Monday** at `9:00` [1][12]\n> quoted", "Opening hours\nMonday at 9:00\nquoted"],
    ["an *important* and _new_ rule, snake_case and 2 * 3 stay", "an important and new rule, snake_case and 2 * 3 stay"],
    ["| Item | 2025 |\n|---|---:|\n| Rent<br>net | 5 |", "Item · 2025\n\nRent net · 5"],
    ["", ""],
  ])("%j", (markdown, text) => {
    expect(plain(markdown)).toBe(text);
  });
});
