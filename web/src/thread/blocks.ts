// A streaming answer is rendered block by block, so that only its last block is
// parsed again with every word.

const FENCE = /^ {0,3}(`{3,}|~{3,}|\${2}(?=\s*$))/; // of code or a formula
const ITEM = /^ {0,3}([-*+]|\d{1,9}[.)])\s/;
const DEFINITION = /^ {0,3}\[[^\]]+\]:/m;

/**
 * Splits Markdown at blank lines between top-level blocks. Code fences and lists
 * stay whole. A text with link definitions is not split, because they apply
 * everywhere. The blocks joined with "\n" are the text.
 */
export function blocksOf(markdown: string): string[] {
  if (DEFINITION.test(markdown)) return [markdown];
  const lines = markdown.split("\n");
  const blocks: string[] = [];
  let open: string[] = [];
  let fence = "";
  let list = false;
  let blank = false;
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1];
    const starts = blank && fence === "" && line.trim() !== "" && !/^\s/.test(line) && !(list && ITEM.test(line));
    if (starts) {
      blocks.push(open.join("\n"));
      open = [];
      list = false;
    }
    if (fence !== "") {
      if (mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = "";
    } else if (mark) fence = mark;
    else if (ITEM.test(line)) list = true;
    blank = line.trim() === "";
    open.push(line);
  }
  blocks.push(open.join("\n"));
  return blocks;
}
