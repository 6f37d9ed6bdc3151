const MOST = 2_000; // characters of a quote

const BLOCK = /^(?:P|LI|H[1-6]|PRE|TR|DIV|BLOCKQUOTE|UL|OL|TABLE|DETAILS|SUMMARY|HR)$/;
const OTHER = "button, a[data-citation], .sr-only, [data-language], [aria-hidden=true]";

/** The text of a selection in an answer, without the numbers of citations; "" if it has none. */
export function quotedText(content: Node): string {
  let text = "";
  const walk = (node: Node) => {
    if (node.nodeType === 3) text += node.textContent ?? ""; // a text
    if (node.nodeType !== 1 && node.nodeType !== 11) return;
    const { tagName = "" } = node as Element;
    if (tagName && (node as Element).matches(OTHER)) return;
    if (tagName === "BR") text += "\n";
    const block = BLOCK.test(tagName);
    if (block && text && !text.endsWith("\n")) text += "\n";
    if (tagName === "TD" && text && !/[\n|]\s*$/.test(text)) text += " | ";
    node.childNodes.forEach(walk);
    if (block && text && !text.endsWith("\n")) text += "\n";
  };
  walk(content);
  const lines = text.split("\n").map((l) => l.replace(/\s+/g, " ").trim());
  const clean = lines.join("\n").replace(/\n{2,}/g, "\n").trim();
  const characters = [...clean];
  return characters.length > MOST ? `${characters.slice(0, MOST).join("").trimEnd()} …` : clean;
}

/** A quote as the lines that begin a message. */
export const quoteLines = (text: string): string[] => text.split("\n").map((line) => `> ${line}`);

/** The selection in one answer of the conversation; null if there is none. */
export function selectedIn(box: Element | null): { range: Range; text: string } | null {
  const selection = document.getSelection();
  if (!box || !selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const { commonAncestorContainer: at } = range;
  const row = (at instanceof Element ? at : at.parentElement)?.closest("[data-role=assistant]");
  if (!row || !box.contains(row)) return null;
  const text = quotedText(range.cloneContents());
  return text ? { range, text } : null;
}
