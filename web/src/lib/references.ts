import type { Node } from "./markers";

// Ids of items of a discovery board in an answer: F-1 or [F-1]. Markdown would read
// "[F-1]: it says" as a definition, so brackets are swapped for private-use
// characters before parsing.

const OPEN = "\uE002";
const CLOSE = "\uE003";
const ID = "[IFNRO]-[1-9]\\d{0,8}";
const IN_TEXT = new RegExp(`${OPEN}(${ID})${CLOSE}|(?<![\\p{L}\\p{N}_-])(${ID})(?![\\p{L}\\p{N}_-])`, "gu");
const BRACKETED = new RegExp(`\\[(${ID})\\]`, "g");

export const sealReferences = (markdown: string): string => markdown.replace(/[\uE002\uE003]/g, "").replace(BRACKETED, `${OPEN}$1${CLOSE}`);

/** The distinct ids in a text, in order. */
export const referencesIn = (text: string): string[] => [...new Set([...sealReferences(text).matchAll(IN_TEXT)].map((m) => (m[1] ?? m[2])!))];

/** A sealed text as it was written. */
export const opened = (s: string): string => s.replaceAll(OPEN, "[").replaceAll(CLOSE, "]");

/** A remark plugin: ids in text become <data>F-1</data>; in code and URLs they do not change. */
export function remarkReferences() {
  return (tree: Node): void => walk(tree);
}

function walk(node: Node): void {
  for (const field of ["value", "url", "title", "alt"] as const) {
    const s = node[field];
    if (typeof s === "string") node[field] = opened(s);
  }
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "");
    walk(child);
    return [child];
  });
}

function split(text: string): Node[] {
  const out: Node[] = [];
  let from = 0;
  const say = (to: number) => {
    if (to > from) out.push({ type: "text", value: opened(text.slice(from, to)) });
  };
  for (const m of text.matchAll(IN_TEXT)) {
    say(m.index);
    out.push({ type: "reference", data: { hName: "data" }, children: [{ type: "text", value: (m[1] ?? m[2])! }] });
    from = m.index + m[0].length;
  }
  say(text.length);
  return out;
}
