import type { Citation, Doc } from "../api/types";
import { suggestion } from "../composer/outgoing";
import { indexOfCodePoint } from "../lib/codepoints";
import { about, headingsAt, type Idea, isQuestion, LONGEST } from "../shell/ideas";
import { nameOf, olderFirst } from "../documents/names";
import { words } from "../words";

const MOST = 3;

/** Returns the headings after the last quote of an answer, then those before it. It omits headings that were quoted or that are in said. */
function unquotedHeadings(d: Doc, text: string, citations: readonly Citation[], said: string): string[] {
  const headings = headingsAt(text, nameOf(d));
  const starts = citations.flatMap((c) => (c.doc_id === d.id && c.start !== undefined ? [indexOfCodePoint(text, c.start)] : []));
  const under = starts.map((at) => headings.findLastIndex((h) => h.at <= at));
  const next = Math.max(-1, ...under) + 1;
  return [...headings.keys()].map((i) => (next + i) % headings.length).flatMap((i) => (under.includes(i) || said.includes(headings[i]!.heading.toLowerCase()) ? [] : [headings[i]!.heading]));
}

/**
 * Suggests questions about sections of the cited documents that the answer did
 * not quote, and a comparison of two documents or a summary. said is the text of
 * all messages of the user in this thread, in any language, and the actions of the answers.
 */
export function followUps(citations: readonly Citation[], docs: readonly Doc[], texts: ReadonlyMap<string, string>, said: string): Idea[] {
  const cited = [...new Set(citations.flatMap((c) => c.doc_id ?? []))].flatMap((id) => docs.find((d) => d.id === id && d.status === "ready") ?? []);
  const lower = said.toLowerCase();
  const left = cited.map((d) => unquotedHeadings(d, texts.get(d.id) ?? "", citations, lower));
  const out: Idea[] = [];
  const add = (idea: Idea) => out.length < MOST && !out.some((o) => o.label === idea.label) && out.push(idea);
  const asked = (action: string) => lower.includes(action);
  for (let i = 0; out.length < 2 && left.some((all) => i < all.length); i++) cited.forEach((d, at) => left[at]![i] !== undefined && out.length < 2 && add(asks(d, left[at]![i]!, cited.length > 1)));
  const [first, second] = cited;
  if (first && second && !asked("compare")) add({ label: words.message.compareBoth, shared: first.public, doc: suggestion("compare", [first, second].toSorted(olderFirst)) });
  else if (first && !asked("summarize")) add({ label: words.welcome.summarize(nameOf(first)), shared: first.public, doc: suggestion("summarize", [first]) });
  return out.filter((idea) => [...idea.label].length <= LONGEST);
}

/** A question about a section, short: its document is known from the answer, unless there are several. A heading that is a question needs no more words. */
function asks(d: Doc, heading: string, several: boolean): Idea {
  const idea = about(d, heading);
  return isQuestion(heading) || (several && [...idea.label].length <= LONGEST) ? idea : { ...idea, label: words.message.followUp(heading) };
}
