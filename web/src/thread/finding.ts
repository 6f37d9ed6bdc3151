import { found } from "../documents/finding";
import { plain } from "../lib/plain";
import { shown } from "./parts";
import type { Message } from "./types";

/** A place in a conversation where the words that are searched stand. */
export interface Hit {
  /** The id of the message. */
  id: string;
  /** Which of the matches in that message it is, from 0. */
  nth: number;
}

const texts = new WeakMap<Message, string>();

/** What the page shows of a message's text. */
function shownText(m: Message): string {
  let text = texts.get(m);
  if (text === undefined) {
    const parts = shown(m).flatMap((p) => (p.type === "text" ? [p.text] : []));
    text = (m.role === "user" ? parts : parts.map(plain)).join("\n\n");
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
const OTHER = "button, a[data-citation], footer, .sr-only, [data-language], [aria-hidden=true]";

/** The ranges of a message on the page where the words stand. */
export function rangesIn(row: Element, search: string): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT, (n) => (n.parentElement?.closest(OTHER) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  for (let n = walker.nextNode() as Text | null; n; n = walker.nextNode() as Text | null) {
    nodes.push({ node: n, from: text.length });
    text += n.data;
  }
  const at = (offset: number, end: boolean) => {
    const i = nodes.findLastIndex(({ from }) => (end ? from < offset : from <= offset));
    return nodes[i] && ([nodes[i].node, offset - nodes[i].from] as const);
  };
  return found(text, search).flatMap(({ start, end }) => {
    const [from, to] = [at(start, false), at(end, true)];
    if (!from || !to) return [];
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(...to);
    return [range];
  });
}
