import type { Node } from "./markers";

/** Chinese, Japanese and full-width punctuation, which ends a bare address in a text. */
const ENDS = /[\u3000-\u3003\u3008-\u3011\u3014-\u301F\uFF01-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65\u201C\u201D\u2018\u2019\u2026]/;

/** A remark plugin: a bare address ends before such punctuation. */
export function remarkBareLinks() {
  return (tree: Node): void => walk(tree);
}

function walk(node: Node): void {
  if (!node.children) return;
  node.children = node.children.flatMap((child) => {
    const after = child.type === "link" ? cut(child) : "";
    if (!after) walk(child);
    return after ? [child, { type: "text", value: after }] : [child];
  });
}

interface Placed {
  position?: { start: { offset?: number }; end: { offset?: number } };
}

/** Ends a bare link at the punctuation. Returns the rest. */
function cut(link: Node & Placed): string {
  const [words, ...more] = link.children ?? [];
  const { url = "", position } = link;
  if (!words?.value || more.length > 0 || !url.endsWith(words.value)) return "";
  if (position && position.end.offset! - position.start.offset! !== words.value.length) return ""; // <https://…> or [text](…)
  const at = words.value.search(ENDS);
  if (at < 1) return "";
  const after = words.value.slice(at);
  link.url = url.slice(0, -after.length);
  words.value = words.value.slice(0, at);
  return after;
}
