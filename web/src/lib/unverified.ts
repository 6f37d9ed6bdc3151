// The words of an answer that were a quotation and are in no source (rule N21 of
// docs/contract.md). They are marked with private-use characters before parsing.

import type { Node } from "./markers";

const OPEN = "\uE002";
const CLOSE = "\uE003";
const MARKS = /[\uE002\uE003]/g;

/** Finds the words in a text, in order. A text may be one piece of the answer and lack some. */
function placesOf(text: string, unverified: readonly string[]): [start: number, end: number][] {
  const out: [number, number][] = [];
  let from = 0;
  for (const words of unverified) {
    const at = words === "" ? -1 : text.indexOf(words, from);
    if (at < 0) continue;
    from = at + words.length;
    out.push([at, from]);
  }
  return out;
}

function around(text: string, unverified: readonly string[], open: string, close: string): string {
  let out = "";
  let from = 0;
  for (const [start, end] of placesOf(text, unverified)) {
    out += text.slice(from, start) + open + text.slice(start, end) + close;
    from = end;
  }
  return out + text.slice(from);
}

/** Marks the words for remarkUnverified. */
export const markUnverified = (text: string, unverified: readonly string[] = []): string => around(text.replace(MARKS, ""), unverified, OPEN, CLOSE);

/** Adds a Markdown footnote to the words, for copies. */
export function noteUnverified(text: string, unverified: readonly string[], reason: string): string {
  return placesOf(text, unverified).length === 0 ? text : `${around(text, unverified, "", "[^unverified]")}\n\n[^unverified]: ${reason}`;
}

/** A remark plugin: marked words become <u>. Marks elsewhere, such as in code, are removed. */
export function remarkUnverified() {
  return (tree: Node): void => walk(tree);
}

const clean = (s: string): string => s.replace(MARKS, "");

function walk(node: Node): void {
  if (node.children) {
    node.children = wrap(node.children.flatMap((child) => (child.type === "text" ? split(child.value ?? "") : [child])));
    node.children.forEach(walk);
  }
  for (const field of ["value", "url", "title", "alt"] as const) {
    const s = node[field];
    if (typeof s === "string") node[field] = clean(s);
  }
  node.data?.hChildren?.forEach(walk); // formulas
}

/** Splits a text so that each mark stands alone. */
const split = (text: string): Node[] => text.split(/([\uE002\uE003])/).flatMap((value) => (value ? [{ type: "text", value }] : []));

/** Wraps what stands between two marks of the same parent. */
function wrap(children: Node[]): Node[] {
  const out: Node[] = [];
  let open = -1; // of the children in out
  for (const child of children) {
    const value = child.type === "text" ? child.value : undefined;
    if (value === OPEN) open = out.length;
    else if (value !== CLOSE) out.push(child);
    else if (open >= 0) {
      const inner = out.splice(open);
      if (inner.length > 0) out.push({ type: "unverified", data: { hName: "u" }, children: inner });
      open = -1;
    }
  }
  return out;
}
