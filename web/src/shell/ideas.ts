import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Doc } from "../api/types";
import { emptyDoc, mentionNode, suggestion, type Node } from "../composer/outgoing";
import { documentText } from "../documents/text";
import { mostAlike } from "../lib/alike";
import { words } from "../words";
import { nameOf } from "../documents/names";

/** A suggestion: its label, and what it puts into the composer. */
export interface Idea {
  label: string;
  /** Whether it is about shared documents. */
  shared: boolean;
  doc: Node;
}

const MOST = 3;
/** Maximum size of a document to read for its headings, in bytes. */
export const BYTES = 200_000;

/** The headings of a Markdown text that suit a question, with their UTF-16 offsets. */
export function headingsAt(text: string, title: string): { heading: string; at: number }[] {
  const seen = new Set<string>();
  return [...text.matchAll(/^#{1,4} +(.+?)[ #]*$/gm)].flatMap((m) => {
    const heading = m[1]!.replace(/^[\d.]+\s+/, "").replace(/[*_`]/g, "").trim();
    if (heading.length < 4 || heading.length > 60 || heading.toLowerCase() === title.toLowerCase() || seen.has(heading)) return [];
    seen.add(heading);
    return [{ heading, at: m.index }];
  });
}

export const headingsOf = (text: string, title: string): string[] => headingsAt(text, title).map((h) => h.heading);

const HERE = "\uE000";

/** A question about a section of a document. It mentions the document. */
export function about(d: Doc, heading: string): Idea {
  const [before = "", after = ""] = words.welcome.about(HERE, heading).split(HERE);
  const content = [{ type: "text", text: before }, mentionNode({ id: d.id, label: nameOf(d), category: "document" }), { type: "text", text: after }];
  return { label: words.welcome.about(nameOf(d), heading), shared: d.public, doc: { ...emptyDoc, content: [{ type: "paragraph", content: content.filter((n) => n.text !== "") }] } };
}

/** Returns questions about each document in turn, then a comparison and a summary. texts has the loaded texts by document id. */
export function ideasFor(docs: readonly Doc[], texts: ReadonlyMap<string, string>): Idea[] {
  const headings = docs.map((d) => headingsOf(texts.get(d.id) ?? "", d.title));
  const ideas: Idea[] = [];
  for (let i = 0; ideas.length < MOST && headings.some((all) => i < all.length); i++) {
    docs.forEach((d, at) => headings[at]![i] !== undefined && ideas.length < MOST && ideas.push(about(d, headings[at]![i]!)));
  }
  const pair = mostAlike(docs, (d) => d.title);
  if (pair && ideas.length < MOST) ideas.push({ label: words.welcome.compare(nameOf(pair[0]), nameOf(pair[1])), shared: pair[0].public, doc: suggestion("compare", pair) });
  const [first] = docs;
  if (first && ideas.length < MOST) ideas.push({ label: words.welcome.summarize(nameOf(first)), shared: first.public, doc: suggestion("summarize", [first]) });
  return ideas;
}

/** The documents for ideas: the user's newest, or else the newest shared ones. */
export function sourcesOf(docs: readonly Doc[]): Doc[] {
  const ready = docs.filter((d) => d.status === "ready");
  const own = ready.filter((d) => !d.public);
  return (own.length > 0 ? own : ready).toSorted((a, b) => (b.created_at ?? "").localeCompare(a.created_at ?? "")).slice(0, MOST);
}

/** Returns suggestions for the documents; none until their texts are loaded, so that nothing changes under the pointer. */
export function useIdeas(docs: readonly Doc[]): Idea[] {
  const sources = useMemo(() => sourcesOf(docs), [docs]);
  const texts = useQueries({
    queries: sources.map((d) => ({ ...documentText(d.id), enabled: d.bytes <= BYTES, retry: false })),
    combine: (results) => (results.some((r) => r.isLoading) ? undefined : results.map((r) => r.data)),
  });
  return useMemo(() => (texts === undefined ? [] : ideasFor(sources, new Map(sources.flatMap((d, i) => (texts[i] === undefined ? [] : [[d.id, texts[i]] as const]))))), [sources, texts]);
}
