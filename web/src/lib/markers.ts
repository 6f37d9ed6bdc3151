// Citation markers such as [1] in an answer. Markdown would read "[1]: see" as a definition and
// "[1](x)" as a link, so they are swapped for private-use characters before
// parsing and turned into <cite> elements afterwards. Punctuation stands around them, as brackets
// did: otherwise the ** of **“a quote.”**[1] would not end bold words.

const OPEN = "\u2E28\uE000";
const CLOSE = "\uE001\u2E29";
const SEALED = /\u2E28\uE000(\d{1,3})\uE001\u2E29/g;

/** Replaces markers by private-use characters. If known is given, only its numbers are markers; other brackets stay text. */
export function seal(markdown: string, known?: ReadonlySet<number>): string {
  const clean = markdown.replace(/[\uE000\uE001]/g, "");
  return clean.replace(/\[(\d{1,3})\]/g, (whole, n: string) => (!known || known.has(Number(n)) ? OPEN + n + CLOSE : whole));
}

export interface Node {
  type: string;
  value?: string;
  url?: string;
  title?: string | null;
  alt?: string | null;
  children?: Node[];
  data?: { hName?: string; hChildren?: Node[] };
}

/** A remark plugin: sealed markers in text become <cite>n</cite>; in code and URLs they become [n] again. */
export function remarkMarkers() {
  return (tree: Node): void => walk(tree);
}

/** A sealed text as it was written. */
export const opened = (s: string): string => s.replace(SEALED, "[$1]");

function unseal(node: Node): void {
  for (const field of ["value", "url", "title", "alt"] as const) {
    const s = node[field];
    if (typeof s === "string") node[field] = opened(s);
  }
}

function unsealAll(node: Node): void {
  unseal(node);
  node.children?.forEach(unsealAll);
}

function walk(node: Node): void {
  unseal(node);
  node.data?.hChildren?.forEach(unsealAll); // formulas
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return split(child.value ?? "");
    const after = child.type === "link" ? cut(child) : "";
    walk(child);
    return [child, ...(after ? split(after) : [])];
  });
}

/** Ends a bare URL at a marker, because there is often no space between them. Returns the rest. */
function cut(link: Node): string {
  const [words, ...more] = link.children ?? [];
  const { url = "" } = link;
  const at = words?.value?.indexOf(OPEN) ?? -1;
  if (!words?.value || at < 1 || more.length > 0 || !url.endsWith(words.value)) return "";
  const after = words.value.slice(at);
  link.url = url.slice(0, -after.length);
  words.value = words.value.slice(0, at);
  return after;
}

function split(text: string): Node[] {
  const out: Node[] = [];
  let from = 0;
  for (const m of text.matchAll(SEALED)) {
    // A no-break space keeps the number on the line of the text before it.
    if (m.index > from) out.push({ type: "text", value: text.slice(from, m.index).replace(/ $/, "\u00A0") });
    out.push({ type: "cite", data: { hName: "cite" }, children: [{ type: "text", value: m[1]! }] });
    from = m.index + m[0].length;
  }
  if (from < text.length || out.length === 0) out.push({ type: "text", value: text.slice(from) });
  return out;
}
