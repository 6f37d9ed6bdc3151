import { mentionOf, type Node } from "../composer/outgoing";
import type { Outgoing } from "../composer/types";
import { words } from "../words";
import { option } from "../words/wire";
import { decide, draftOf, type Draft } from "./approval";
import type { Decision, Question, ResumeValue } from "./types";

export type Option = NonNullable<Question["options"]>[number];

export const ALL = "all";
export const ASK = "inquire";
export const TAG = "tag_docs";
const WEB = "web_search";

/** The available options of a question, in the order of their numbers: "all" comes after the documents. */
export function optionsOf({ interrupt_type: type, options = [] }: Question, webSearch: boolean): Option[] {
  const offered = options.filter((o) => webSearch || type !== "retrieval_low" || o.id !== WEB);
  if (type !== "doc_choice") return offered;
  return [...offered.filter((o) => o.id !== ALL), ...offered.filter((o) => o.id === ALL)];
}

/** Normalizes text to compare it: no case, no "@" of a mention, no punctuation around it. */
const plain = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/^[\s@"“„'([]+|[\s"”'.,;:!?)\]]+$/g, "");

/** The option that typed text names, by its label or its number. */
export function optionNamed(options: readonly Option[], text: string): Option | undefined {
  const said = plain(text);
  if (!said) return undefined;
  const named = options.filter((o) => plain(option(o)) === said || plain(o.label) === said);
  if (named.length > 0) return named.length === 1 ? named[0] : undefined; // documents may share a title
  const number = /^#?(\d{1,2})$/.exec(said)?.[1];
  return number ? options[Number(number) - 1] : undefined;
}

/** The decision that typed text names for all calls; undefined if it names none. */
export function decisionNamed(text: string): Decision["decision"] | undefined {
  const said = plain(text);
  return said === plain(words.tools.approve) ? "approved" : said === plain(words.tools.reject) ? "rejected" : undefined;
}

/** Makes one decision for all calls, with their edited arguments. Null if some arguments are invalid. */
export function decideAll({ tool_calls: calls = [], tools }: Question, kept: readonly Draft[], decision: Decision["decision"]): Decision[] | null {
  return decide(
    calls,
    calls.map((c, i) => ({ ...(kept[i] ?? draftOf(c)), decision })),
    tools,
  );
}

/** Builds the answer to a question from text or documents. */
export const written = (type: string, value: string | null, out: Outgoing): ResumeValue => ({
  type,
  value,
  ...(Object.keys(out.tiptap).length > 0 && { tiptap_json: out.tiptap }),
  ...(out.taggedDocIds.length > 0 && { tagged_doc_ids: out.taggedDocIds }),
  ...(out.taggedSetIds.length > 0 && { tagged_set_ids: out.taggedSetIds }),
});

/** Whether a message only mentions documents and sets. */
export function onlyDocuments({ tiptap, taggedDocIds, taggedSetIds }: Pick<Outgoing, "tiptap" | "taggedDocIds" | "taggedSetIds">): boolean {
  const quiet = (node: Node): boolean => {
    const m = mentionOf(node);
    if (m) return m.category === "document" || m.category === "set";
    return (node.text ?? "").replace(/\p{P}/gu, "").trim() === "" && (node.content ?? []).every(quiet);
  };
  return taggedDocIds.length + taggedSetIds.length > 0 && quiet(tiptap);
}
