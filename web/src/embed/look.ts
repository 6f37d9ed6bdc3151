/** What the page around the frame wants (public/embed.js). Anybody may have written it. */
export interface Look {
  /** The origin of the page around the frame. The server allows the frame only there. */
  origin: string;
  /** Whether that page gives tokens. */
  givesTokens: boolean;
  title: string;
  agent?: string;
  /** The id of the document set that answers use. */
  set?: string;
  /** The accent colour, as #rrggbb. */
  accent?: string;
  theme?: "light" | "dark";
  language?: string;
}

const COLOR = /^#[0-9a-f]{6}$/i;
const NAME = /^[\w-]{1,64}$/;

/** Reads the address of the frame; unknown and malformed values are left out. */
export function lookOf(search: string): Look {
  const all = new URLSearchParams(search);
  const fitting = (name: string, form: RegExp) => {
    const value = all.get(name) ?? "";
    return form.test(value) ? { [name]: value } : {};
  };
  return {
    origin: all.get("origin") ?? "",
    givesTokens: all.get("token") === "1",
    title: (all.get("title") ?? "").slice(0, 80),
    ...fitting("agent", NAME),
    ...fitting("set", NAME),
    ...fitting("accent", COLOR),
    ...fitting("theme", /^(?:light|dark)$/),
    ...fitting("language", /^[A-Za-z-]{2,20}$/),
  };
}

/** The text colour that reads better on a colour: black or white (WCAG's contrast). */
export function inkOn(color: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const share = parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}

/** Shows a look in the document. */
export function show({ accent, theme }: Look): void {
  const { style, dataset } = document.documentElement;
  if (theme) dataset.theme = theme;
  if (!accent) return;
  style.setProperty("--accent", accent);
  style.setProperty("--accent-strong", `color-mix(in srgb, ${accent} 85%, var(--ink))`);
  style.setProperty("--accent-soft", `color-mix(in srgb, ${accent} 14%, var(--surface))`);
  style.setProperty("--accent-ink", inkOn(accent));
}
