import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Doc } from "../api/types";
import { emptyDoc, mentionNode, suggestion, type Node } from "../composer/outgoing";
import { documentText } from "../documents/text";
import { mostAlike, wordsOf } from "../lib/alike";
import { words } from "../words";
import { nameOf, olderFirst, yearOf } from "../documents/names";

/** A suggestion: its label, and the message that a click sends. */
export interface Idea {
  label: string;
  /** Whether it is about shared documents. */
  shared: boolean;
  doc: Node;
}

const MOST = 3;
const SHARED = 5;
/** Maximum size of a document to read for its headings, in bytes. */
export const BYTES = 200_000;

/** Headings that every document has; nobody asks about them. */
const GENERIC =
  /^(?:introduction|intro|purpose|scope|overview|background|summary|abstract|contents|table of contents|general(?: provisions)?|definitions|references|appendix|annex|conclusions?|preface|foreword|notes?|index|disclaimer|changelog|revision history|einleitung|einführung|zweck|ziel|geltungsbereich|überblick|übersicht|hintergrund|zusammenfassung|inhalt|inhaltsverzeichnis|allgemeines|begriffe|begriffsbestimmungen|anhang|anlage|vorwort|fazit|schluss|hinweise?)(?:\s+[\dA-Z])?$/i;

/** Whether a heading names a topic: it is a few words that begin like a title, no part of a sentence and no shouting. */
function isTopic(heading: string): boolean {
  const words = heading.split(/\s+/);
  const shouted = words.filter((w) => /^\p{Lu}{4,}$/u.test(w)).length;
  return heading.length >= 4 && heading.length <= 48 && words.length <= 7 && /^¿?(?!\p{Ll})[\p{L}\p{N}]/u.test(heading) && !/[.:;,!…|]$|[:;|]\s|\.{3}|https?:/.test(heading) && shouted === 0 && !GENERIC.test(heading);
}

const plainWords = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether a heading is the name of the document: one begins with the other, or the name ends with the heading. A single word is a topic. */
function isName(heading: string, title: string): boolean {
  const [one, other] = [plainWords(heading), plainWords(title)];
  const least = Math.min(one.length, other.length);
  const same = (of: readonly string[]) => of.join(" ") === (one.length < other.length ? one : other).join(" ");
  const long = one.length < other.length ? other : one;
  return one.join(" ") === other.join(" ") || (least > 1 && (same(long.slice(0, least)) || (long === other && same(long.slice(-least)))));
}

/** The headings of a Markdown text that suit a question, with their UTF-16 offsets. */
export function headingsAt(text: string, title: string): { heading: string; at: number }[] {
  const seen = new Set<string>();
  return [...text.matchAll(/^#{1,4} +(.+)$/gm)].flatMap((m) => {
    const heading = m[1]!.replace(/(?<![ #])[ #]+$/, "").replace(/^(?:[\d.]+|§+\s*\d+|[A-Z]\.)\s+/, "").replace(/[*_`]/g, "").trim();
    if (!isTopic(heading) || isName(heading, title) || seen.has(heading)) return [];
    seen.add(heading);
    return [{ heading, at: m.index }];
  });
}

export const headingsOf = (text: string, title: string): string[] => headingsAt(text, title).map((h) => h.heading);

const HERE = "\uE000";

/** The longest label of a suggestion, in characters. A longer one would have to be cut. */
export const LONGEST = 72;
const fits = (label: string): boolean => [...label].length <= LONGEST;

/** The question marks of Latin, Chinese and Japanese, Arabic and Greek. */
const MARK = /[?？؟\u037E]$/;
const WITHOUT_MARK = /^(?:who|what|when|where|which|why|how|wer|was|wann|wo|welche[rsn]?|warum|wie)\s/i;

/** Whether a heading is a question, so that it can be asked as it is. */
export const isQuestion = (heading: string): boolean => MARK.test(heading) || WITHOUT_MARK.test(heading);

/** A heading that is a question, with its question mark. */
export const asked = (heading: string): string => (MARK.test(heading) ? heading : `${heading}?`);

/** A question about a section of a document. It mentions the document. */
export function about(d: Doc, heading: string): Idea {
  const ask = isQuestion(heading) ? (document: string) => `${asked(heading)}${document && ` ${document}`}` : (document: string) => words.welcome.about(document, heading);
  const [before = "", after = ""] = ask(HERE).split(HERE);
  const content = [{ type: "text", text: before }, mentionNode({ id: d.id, label: nameOf(d), category: "document" }), { type: "text", text: after }];
  return { label: ask(isQuestion(heading) ? "" : nameOf(d)), shared: d.public, doc: { ...emptyDoc, content: [{ type: "paragraph", content: content.filter((n) => n.text !== "") }] } };
}

/** The questions about the sections of a document: headings that are questions come first, then those that name it, for a long title those that name only the section. */
function questionsOn(d: Doc, text: string): Idea[] {
  const headings = headingsOf(text, nameOf(d)).toSorted((a, b) => Number(isQuestion(b)) - Number(isQuestion(a)));
  const named = headings.map((h) => about(d, h));
  return [...named, ...named.map((idea, i) => ({ ...idea, label: words.welcome.aboutTopic(headings[i]!) }))].filter((idea) => fits(idea.label));
}

const RULES = /polic(?:y|ies)|rules?\b|regulation|circular|guideline|standard|code of conduct|richtlinie|ordnung|vorschrift|rundschreiben|satzung|leitfaden|règlement|directive|política|reglamento/i;
const MAIL = /\be-?mails?\b|courriel|correo/i;
const LETTER = /\bletter\b|\bmemo\b|\bbrief\b/i;
const isLetter = (name: string): boolean => MAIL.test(name) || LETTER.test(name);

/** Whether a summary of the document helps nobody: it is a letter or a table. */
const isShort = (d: Doc): boolean => isLetter(nameOf(d)) || ["csv", "xlsx", "ods"].includes(d.format);

/** A name without a year at its start or end: "Leave policy" of "2024 Leave policy", "Leave policy (2024)" and "Leave policy of 2024". */
const withoutYear = (name: string): string =>
  name
    .replace(/^[^\p{L}\p{N}]*(?:19|20)\d{2}(?!\p{N})[^\p{L}\p{N}]*|[^\p{L}\p{N}]*(?<!\p{N})(?:19|20)\d{2}[^\p{L}\p{N}]*$/u, "")
    .replace(/(?<=\S)(?:\s+\p{Ll}{1,3})+$/u, "");

/** Labels for the older and the newer version of a document, whose title may have become longer, the best first: "What changed from the 2024 to the 2025 policy?" Else a comparison. */
function comparisons(pair: readonly [Doc, Doc]): string[] {
  const [from, to] = pair.map((d) => yearOf(nameOf(d)));
  const [short, long] = pair.map((d) => withoutYear(nameOf(d))).toSorted((a, b) => a.length - b.length) as [string, string];
  const same = wordsOf(short).every((w) => wordsOf(long).includes(w));
  if (!from || !to || from === to || !same) return [words.welcome.compare(nameOf(pair[0]), nameOf(pair[1]))];
  const last = short.split(/\s+/).at(-1)!;
  const noun = RULES.test(last) ? last : short;
  return [...(yearOf(noun) ? [] : [noun]), words.welcome.version].map((what) => words.welcome.changed(String(from), String(to), what));
}

/** Returns one suggestion for each skill: a question, a summary, a comparison and an audit. docs has the user's own documents first; texts has the loaded texts by document id. */
export function ideasFor(docs: readonly Doc[], texts: ReadonlyMap<string, string>): Idea[] {
  const ideas: Idea[] = [];
  const add = (found: readonly Idea[]) => {
    const first = found.find((idea) => fits(idea.label));
    if (first) ideas.push(first);
  };
  const groups = [docs.filter((d) => !d.public), docs.filter((d) => d.public)].filter((g) => g.length > 0);
  add(docs.flatMap((d) => questionsOn(d, texts.get(d.id) ?? "")));
  add(
    docs.toSorted((a, b) => Number(a.public) - Number(b.public) || Number(isShort(a)) - Number(isShort(b))).flatMap((d) => {
      const idea = { label: words.welcome.summarize(nameOf(d)), shared: d.public, doc: suggestion("summarize", [d]) };
      return d.public || d !== docs[0] ? [idea] : [idea, { ...idea, label: words.welcome.summarizeNewest }];
    }),
  );
  add(
    groups.flatMap((g) => {
      const pair = mostAlike(g, (d) => d.title)?.toSorted(olderFirst) as [Doc, Doc] | undefined;
      return pair ? comparisons(pair).map((label) => ({ label, shared: pair[0].public, doc: suggestion("compare", pair) })) : [];
    }),
  );
  const letter = docs.find((d) => isLetter(nameOf(d)) && !RULES.test(nameOf(d)));
  const kind = letter ? (MAIL.test(nameOf(letter)) ? "mail" : "letter") : "text";
  const audits = docs
    .filter((d) => RULES.test(nameOf(d)) && !isLetter(nameOf(d)))
    .map((d) => ({ label: letter ? words.welcome.check(nameOf(letter), nameOf(d)) : words.welcome.checkText(nameOf(d)), shared: d.public, doc: suggestion("audit", letter ? [letter, d] : [d]) }));
  add([...audits, ...audits.map((idea) => ({ ...idea, label: words.welcome.checkKind[kind] }))]);
  return ideas;
}

/** The documents for ideas: the user's newest, then the newest shared ones. */
export function sourcesOf(docs: readonly Doc[]): Doc[] {
  const ready = docs.filter((d) => d.status === "ready").toSorted((a, b) => (b.created_at ?? "").localeCompare(a.created_at ?? ""));
  const own = ready.filter((d) => !d.public).slice(0, MOST);
  return [...own, ...ready.filter((d) => d.public).slice(0, SHARED)];
}

/** Reads the texts of documents, in their order, until one has a section to ask about. A text that cannot be read is left out. */
export async function textsFor(docs: readonly Doc[], read: (id: string) => Promise<string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const d of docs) {
    if (d.bytes > BYTES) continue;
    const text = await read(d.id).catch(() => "");
    texts.set(d.id, text);
    if (questionsOn(d, text).length > 0) break;
  }
  return texts;
}

/** Returns suggestions for the documents; none until the texts that they need are loaded, so that nothing changes under the pointer. */
export function useIdeas(docs: readonly Doc[]): Idea[] {
  const sources = useMemo(() => sourcesOf(docs), [docs]);
  const { data: texts, isLoading } = useQuery({
    queryKey: ["texts-for-ideas", ...sources.map((d) => [d.id, d.title])],
    queryFn: ({ client }) => textsFor(sources, (id) => client.fetchQuery({ ...documentText(id), retry: false })),
    staleTime: Infinity,
    retry: false,
  });
  return useMemo(() => (isLoading ? [] : ideasFor(sources, texts ?? new Map())), [sources, texts, isLoading]);
}
