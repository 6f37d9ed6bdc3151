import type { Action } from "../api/types";
import { words } from "../words";
import { actions, web, type Category } from "./mentions";
import { nameOf } from "../documents/names";

/** A node of the composer's document, as TipTap's getJSON returns it. */
export interface Node {
  type?: string;
  text?: string;
  attrs?: Record<string, unknown>;
  content?: Node[];
}

export interface Mention {
  id: string;
  category: Category;
  label: string;
}

export const emptyDoc: Node = { type: "doc", content: [{ type: "paragraph" }] };

const str = (v: unknown): string => (typeof v === "string" ? v : "");

export function mentionOf(node: Node): Mention | null {
  if (node.type !== "mention") return null;
  const category = str(node.attrs?.category) as Category;
  return { id: str(node.attrs?.id), category, label: str(node.attrs?.label) || str(node.attrs?.id) };
}

/** Actions and the web keep the labels that the server reads, not those of the page. */
export function mentionNode({ id, label, category }: Mention): Node {
  const fixed = [...actions, web].find((m) => m.category === category && m.id === id);
  return { type: "mention", attrs: { id, label: fixed?.label ?? label, category, mentionSuggestionChar: "@" } };
}

/** The distinct mentions of a document, in order. */
export function mentionsOf(doc: Node): Mention[] {
  const found = new Map<string, Mention>();
  const walk = (node: Node) => {
    const m = mentionOf(node);
    if (m?.id) found.set(`${m.category}:${m.id}`, found.get(`${m.category}:${m.id}`) ?? m);
    node.content?.forEach(walk);
  };
  walk(doc);
  return [...found.values()];
}

/**
 * The document as a model reads it: documents and sets by name, an action as its
 * verb. A mention of web search is left out, because the webSearch field has it.
 */
export function textOf(doc: Node): string {
  const inline = (node: Node): string => {
    if (node.type === "text") return node.text ?? "";
    if (node.type === "hardBreak") return "\n";
    const m = mentionOf(node);
    if (!m) return (node.content ?? []).map(inline).join("");
    if (m.category === "web") return "";
    return m.category === "action" ? m.label : `@${m.label}`;
  };
  const paragraphs = (doc.content ?? []).map(inline).join("\n");
  const hasWeb = mentionsOf(doc).some((m) => m.category === "web");
  const text = hasWeb ? paragraphs.replace(/ {2,}/g, " ").replace(/ ([.,;:?!])/g, "$1") : paragraphs;
  return text.trim();
}

/** Whether a text is empty, except for an unfinished "@". */
export const isBlank = (text: string): boolean => /^[@\s]*$/.test(text);

/** The content of a message, as text and as a TipTap document, with its mentions. */
export interface MessageContent {
  /** Plain text with mentions as "@title". Blank only if there are just images. */
  text: string;
  /** For tiptap_json. */
  tiptap: Node;
  taggedDocIds: string[];
  taggedSetIds: string[];
  /** Spaces whose documents answers use, too. */
  spaceIds?: string[];
  /** Mentioned items of a board; undefined if there are none. */
  references?: string[];
  action?: Action;
  webSearch: boolean;
  /** The web must not be searched, whatever the message asks for. */
  noWeb?: true;
}

/** Reads the text and the mentions of a document. */
export function messageContent(doc: Node): MessageContent {
  const mentions = mentionsOf(doc);
  const ids = (category: Category) => mentions.filter((m) => m.category === category).map((m) => m.id);
  const action = ids("action")[0] as Action | undefined;
  return {
    text: textOf(doc),
    tiptap: doc,
    taggedDocIds: ids("document"),
    taggedSetIds: ids("set"),
    ...(ids("item").length > 0 && { references: ids("item") }),
    ...(action && { action }),
    webSearch: ids("web").length > 0,
  };
}

/** Plain text as a document; line breaks stay. */
export function docOf(text: string): Node {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const content = lines.flatMap((line, i): Node[] => [...(i > 0 ? [{ type: "hardBreak" }] : []), ...(line ? [{ type: "text", text: line }] : [])]);
  return { type: "doc", content: [{ type: "paragraph", ...(content.length > 0 && { content }) }] };
}

/** Joins documents in order; omits empty ones. */
export const joined = (...docs: Node[]): Node => ({ ...emptyDoc, content: docs.filter((d) => textOf(d) !== "").flatMap((d) => d.content ?? []) });

/** A draft message for an action on documents: "@Compare @this and @that". */
export function suggestion(action: Action, docs: readonly { id: string; title: string; label?: string }[]): Node {
  const content = [mentionNode({ id: action, label: action, category: "action" })];
  docs.forEach((d, i) => content.push({ type: "text", text: i > 0 ? words.welcome.and : " " }, mentionNode({ id: d.id, label: nameOf(d), category: "document" })));
  return { type: "doc", content: [{ type: "paragraph", content: [...content, { type: "text", text: " " }] }] };
}
