// Marks ranges of a Markdown text: private-use characters stand around them while it is
// parsed, and become <mark> elements. A mark never goes over the end of a line or a cell,
// because the characters must not change how the Markdown is read.

import type { Node } from "./markers";

const OPEN = "\uE004";
const CURRENT = "\uE005"; // opens the range that stands out
const CLOSE = "\uE006";
const ALL = /[\uE004-\uE006]/g;
const BEGINS = /^[ \t]*(?:(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+|>|\|)*/; // how a line of Markdown begins before its words
const LINE_OF_TABLE = /^\s*\||\s\|\s/;
const RULE = /^[\s|:*_=-]*$/; // has no words

interface Range {
  start: number;
  end: number;
}

const clean = (s: string): string => s.replace(ALL, "");

/** Marks ranges of a text, in order, for remarkHighlights. */
export function highlight(text: string, ranges: readonly Range[], current: number): string {
  let out = "";
  let from = 0;
  ranges.forEach(({ start, end }, i) => {
    if (start < from || end > text.length) return;
    out += clean(text.slice(from, start)) + enclosed(text, start, end, i === current ? CURRENT : OPEN);
    from = end;
  });
  return out + clean(text.slice(from));
}

/** Encloses the words of each line, and of each cell of a table. */
function enclosed(text: string, start: number, end: number, open: string): string {
  let at = start;
  return text
    .slice(start, end)
    .split("\n")
    .map((piece) => {
      const line = text.lastIndexOf("\n", at - 1) + 1;
      const stop = text.indexOf("\n", at);
      const whole = text.slice(line, stop < 0 ? undefined : stop);
      const before = line + BEGINS.exec(whole)![0].length;
      const skip = Math.min(Math.max(0, before - at), piece.length); // what begins the line stays as it is
      at += piece.length + 1;
      const words = clean(piece.slice(skip));
      const cells = LINE_OF_TABLE.test(whole) ? words.split(/(\|)/) : [words];
      return piece.slice(0, skip) + cells.map((c) => cell(c, open)).join("");
    })
    .join("\n");
}

function cell(text: string, open: string): string {
  if (RULE.test(text)) return text;
  const words = text.trim();
  const at = text.indexOf(words);
  return text.slice(0, at) + open + words + CLOSE + text.slice(at + words.length);
}

/** A remark plugin: marked words become <mark>, those of the current range with data-current. */
export function remarkHighlights() {
  return (tree: Node): void => walk(tree, { open: "" });
}

function walk(node: Node, state: { open: string }): void {
  for (const field of ["url", "title", "alt"] as const) {
    const s = node[field];
    if (typeof s === "string") node[field] = clean(s);
  }
  if (node.type !== "text" && typeof node.value === "string") node.value = clean(node.value);
  node.data?.hChildren?.forEach((child) => child.value && (child.value = clean(child.value))); // formulas
  if (!node.children) return;
  const children = node.children.flatMap((child) => (child.type === "text" ? split(child.value ?? "") : [child]));
  const out: Node[] = [];
  for (let i = 0; i < children.length; i++) {
    const child = children[i]!;
    const value = child.type === "text" ? child.value! : "";
    if (value === OPEN || value === CURRENT) {
      const end = children.findIndex((c, k) => k > i && c.type === "text" && c.value === CLOSE);
      if (end < 0) state.open = value;
      else {
        const inside = children.slice(i + 1, end);
        inside.forEach((c) => walk(c, { open: "" }));
        out.push(mark(value, inside));
        i = end;
      }
    } else if (value === CLOSE) state.open = "";
    else {
      walk(child, state);
      out.push(state.open && (child.type === "text" || child.type === "inlineCode") ? mark(state.open, [child]) : child);
    }
  }
  node.children = out;
}

const split = (text: string): Node[] => text.split(/([\uE004-\uE006])/).flatMap((value) => (value ? [{ type: "text", value }] : []));

const mark = (open: string, children: Node[]): Node => ({ type: "mark", data: { hName: "mark", ...(open === CURRENT && { hProperties: { dataCurrent: "" } }) }, children }) as Node;
