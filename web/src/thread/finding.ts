import { found } from "../documents/finding";
import { plain } from "../lib/plain";
import { question } from "../words/wire";
import { replyText, saidByCards, shown } from "./parts";
import type { Message, Part } from "./types";

/** A place in a conversation where the words that are searched stand. */
export interface Hit {
  /** The id of the message. */
  id: string;
  /** Which of the matches in that message it is, from 0. */
  nth: number;
}

const texts = new WeakMap<Message, string>();

/** Between two texts of a message: no match reaches from one into the next. */
const APART = "\n\0\n";

/** The line that begins or ends code: the name of a language is not part of the text. */
const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*$/gm;

/** The texts that the page shows of a part of a message. An open question is shown below the messages. */
function saidIn(p: Part, m: Message): string[] {
  if (p.type === "text") return [m.role === "user" ? p.text : plain(p.text.replace(FENCE, ""))];
  if (p.type === "reasoning") return [p.text];
  if (p.type !== "data-interrupt" || saidByCards(p.data) || (m.metadata?.finished_reason === "interrupted" && !p.data.answered)) return [];
  return [question(p.data), replyText(p.data, m.metadata)];
}

/** What the page shows of a message's text. */
function shownText(m: Message): string {
  let text = texts.get(m);
  if (text === undefined) {
    text = shown(m).flatMap((p) => saidIn(p, m)).join(APART);
    texts.set(m, text);
  }
  return text;
}

/** Finds words in the texts of messages, in order. Without words it reads no text. */
export const hitsIn = (messages: readonly Message[], search: string): Hit[] => (search.trim() === "" ? [] : messages).flatMap((m) => found(shownText(m), search).map((_, nth) => ({ id: m.id, nth })));

/** The hit to show first: the last one, because a conversation is shown from its end. */
export const firstHit = (hits: readonly Hit[]): number => hits.length - 1;

/** The place of a hit after older messages were added before it. */
export function placeOf(hits: readonly Hit[], hit: Hit | undefined): number {
  const same = hits.findIndex((h) => h.id === hit?.id && h.nth === hit.nth);
  return same >= 0 ? same : firstHit(hits);
}

/** Not part of the text: buttons with citations' numbers, and what only screen readers read. */
const OTHER = "button, a[data-citation], .sr-only, [data-language], [aria-hidden=true]";

/** The code of a diagram that is drawn. */
const codeOf = (n: Node): string | undefined => (n instanceof HTMLElement ? n.dataset.code : undefined);

const accepts = (n: Node): number => {
  if (n instanceof Text || codeOf(n) !== undefined) return NodeFilter.FILTER_ACCEPT;
  return (n as Element).matches(OTHER) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
};

/** The ranges of a message on the page where the words stand. Words of a drawn diagram have the range of the diagram. */
export function rangesIn(row: Element, search: string): Range[] {
  const nodes: { node: Node; from: number }[] = [];
  let text = "";
  for (const said of row.querySelectorAll("[data-said]")) {
    const walker = document.createTreeWalker(said, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, accepts);
    for (let n = walker.nextNode(); n; n = walker.nextNode()) {
      nodes.push({ node: n, from: text.length });
      text += codeOf(n) ?? (n as Text).data;
    }
    text += APART;
  }
  const at = (offset: number, end: boolean) => {
    const i = nodes.findLastIndex(({ from }) => (end ? from < offset : from <= offset));
    return nodes[i] && ([nodes[i].node, offset - nodes[i].from] as const);
  };
  return found(text, search).flatMap(({ start, end }) => {
    const [from, to] = [at(start, false), at(end, true)];
    if (!from || !to) return [];
    const range = document.createRange();
    if (from[0] instanceof Text) range.setStart(...from);
    else range.setStartBefore(from[0]);
    if (to[0] instanceof Text) range.setEnd(...to);
    else range.setEndAfter(to[0]);
    return [range];
  });
}

/** Shows the words of a range: opens the details that they are in, and shows a diagram as text. */
export function reveal(range: Range): void {
  for (let el = range.startContainer.parentElement; el; el = el.parentElement) if (el instanceof HTMLDetailsElement) el.open = true;
  const first = range.startContainer.childNodes[range.startOffset];
  if (first && codeOf(first) !== undefined) first.dispatchEvent(new Event("beforematch"));
}
