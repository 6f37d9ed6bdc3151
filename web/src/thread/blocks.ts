// A streaming answer is rendered block by block, so that only its last block is
// parsed again with every word.

import { MAX_PARSED } from "../lib/bounds";

const FENCE = /^ {0,3}(`{3,}|~{3,}|\${2}(?=\s*$))/; // of code or a formula
const ITEM = /^ {0,3}([-*+]|\d{1,9}[.)])\s/;
const DEFINITION = /^ {0,3}\[[^\]\n]{1,999}\]:/m;

const count = (line: string, tag: string): number => line.toLowerCase().split(tag).length - 1;

/**
 * Splits Markdown at blank lines between top-level blocks. Code fences, lists and
 * <details> stay whole. A text with link definitions is not split, because they apply
 * everywhere, unless it is too long. The blocks joined with "\n" are the text.
 */
export function blocksOf(markdown: string): string[] {
  if (markdown.length <= MAX_PARSED && DEFINITION.test(markdown)) return [markdown];
  const lines = markdown.split("\n");
  const blocks: string[] = [];
  let open: string[] = [];
  let fence = "";
  let list = false;
  let blank = false;
  let details = 0; // that are open
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1];
    const starts = blank && fence === "" && details === 0 && line.trim() !== "" && !/^\s/.test(line) && !(list && ITEM.test(line));
    if (starts) {
      blocks.push(open.join("\n"));
      open = [];
      list = false;
    }
    if (fence !== "") {
      if (mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = "";
    } else if (mark) fence = mark;
    else if (ITEM.test(line)) list = true;
    if (fence === "" && !mark) details = Math.max(0, details + count(line, "<details") - count(line, "</details"));
    blank = line.trim() === "";
    open.push(line);
  }
  blocks.push(open.join("\n"));
  return blocks;
}
