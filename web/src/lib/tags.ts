// HTML tags that models write in Markdown. Those of the list become elements without
// attributes; all other HTML stays text.

import type { Node } from "./markers";

const INLINE = new Set(["sub", "sup", "kbd", "mark"]);
const BLOCK = new Set(["details", "summary"]);
const TAG = /<(\/?)(br|sub|sup|kbd|mark|details|summary)(?:\s+open(?:="")?)?\s*\/?>/gi;
const MOST = 8; // levels

interface Token {
  node: Node;
  tag?: string;
  closes?: boolean;
}

interface Open {
  tag: string;
  source: Node;
  children: Node[];
}

/** A remark plugin: the tags of the list become elements. */
export function remarkTags() {
  return (tree: Node): void => walk(tree, 0);
}

const BLOCKS = new Set(["root", "blockquote", "listItem", "footnoteDefinition"]);

function walk(node: Node, level: number): void {
  if (!node.children || level > 100) return;
  node.children.forEach((child) => walk(child, level + 1));
  if (node.children.some((child) => child.type === "html")) node.children = nested(node.children, BLOCKS.has(node.type));
}

/** Reads the tags of an HTML node; a node with any other tag is one text. */
function tokensOf(node: Node, block: boolean): Token[] {
  const value = node.value ?? "";
  const rest = value.replace(TAG, "");
  if (/<[a-z!/?]/i.test(rest)) return [{ node }];
  const out: Token[] = [];
  let from = 0;
  const text = (until: number) => {
    const words = value.slice(from, until);
    if (block ? words.trim() : words) out.push({ node: { type: "text", value: block ? words.trim() : words } });
  };
  for (const m of value.matchAll(TAG)) {
    text(m.index);
    from = m.index + m[0].length;
    out.push({ node: { type: "html", value: m[0] }, tag: m[2]!.toLowerCase(), closes: m[1] === "/" });
  }
  text(value.length);
  return out;
}

/** Puts the children between two tags into an element. A tag without a partner stays text, but details ends with its parent. */
function nested(children: Node[], block: boolean): Node[] {
  const stack: Open[] = [{ tag: "", source: { type: "root" }, children: [] }];
  const top = () => stack.at(-1)!;
  const giveUp = () => {
    const open = stack.pop()!;
    if (open.tag === "details") top().children.push(element(open));
    else top().children.push(open.source, ...open.children);
  };
  for (const child of children) {
    for (const { node, tag, closes } of child.type === "html" ? tokensOf(child, block) : [{ node: child } as Token]) {
      const known = tag !== undefined && (tag === "br" || INLINE.has(tag) || (block && BLOCK.has(tag) && (tag !== "summary" || closes || top().tag === "details")));
      if (!known) top().children.push(node);
      else if (tag === "br") top().children.push(block && top().tag === "" ? { type: "paragraph", children: [{ type: "break" }] } : { type: "break" });
      else if (!closes && stack.length <= MOST) stack.push({ tag, source: node, children: [] });
      else if (!closes || !stack.some((o) => o.tag === tag)) top().children.push(node);
      else {
        while (top().tag !== tag) giveUp();
        const open = stack.pop()!;
        top().children.push(element(open));
      }
    }
  }
  while (stack.length > 1) giveUp();
  return stack[0]!.children;
}

const element = ({ tag, children }: Open): Node => ({ type: tag, data: { hName: tag }, children: tag === "details" ? children.map(paragraph) : children });

/** Text that stands directly in details becomes a paragraph. */
const paragraph = (node: Node): Node => (node.type === "text" || node.type === "html" || INLINE.has(node.type) ? { type: "paragraph", children: [node] } : node);

/** A text without the tags of the list. */
export const withoutTags = (text: string): string => text.replace(TAG, (_, __, tag: string) => (tag.toLowerCase() === "br" ? " " : ""));
