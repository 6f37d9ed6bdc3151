import { actions, web } from "./mentions";
import { emptyDoc, mentionNode, mentionOf, mentionsOf, textOf, type Mention, type Node } from "./outgoing";

type Raw = Record<string, unknown>;
const obj = (v: unknown): Raw => (typeof v === "object" && v !== null ? (v as Raw) : {});
const list = (v: unknown): unknown[] | null => (v === undefined ? [] : Array.isArray(v) ? v : null);

/**
 * Parses an untrusted TipTap document; null if the composer would not create such a
 * document, or if its text differs from the message. It contains only paragraphs,
 * text, line breaks and mentions.
 */
export function readDoc(value: unknown, message: string): Node | null {
  const doc = docIn(value);
  return doc && textOf(doc) === message.trim() ? doc : null;
}

/** The labels of the documents and sets that an untrusted document mentions. */
export const taggedIn = (value: unknown): string[] => mentionsOf(docIn(value) ?? emptyDoc).flatMap((m) => (m.category === "document" || m.category === "set" ? m.label : []));

function docIn(value: unknown): Node | null {
  const root = obj(value);
  const blocks = root.type === "doc" ? list(root.content)?.map(paragraph) : null;
  return blocks?.every((b) => b !== null) ? { type: "doc", content: blocks } : null;
}

function paragraph(value: unknown): Node | null {
  const node = obj(value);
  const content = node.type === "paragraph" ? list(node.content)?.map(inline) : null;
  if (!content?.every((n) => n !== null)) return null;
  return { type: "paragraph", ...(content.length > 0 && { content }) };
}

function inline(value: unknown): Node | null {
  const { type, text, attrs } = obj(value);
  if (type === "hardBreak") return { type };
  if (type === "text") return typeof text === "string" && text !== "" ? { type, text } : null;
  const mention = type === "mention" ? known(obj(attrs)) : null;
  return mention && mentionNode(mention);
}

/** Checks a mention; null if it is invalid. Documents and sets keep the labels that they were sent with. The label of an item is its id. Actions and web search always get our labels. */
function known({ category, id, label }: Raw): Mention | null {
  if (typeof id !== "string" || id === "") return null;
  if (category === "document" || category === "set") return { category, id, label: typeof label === "string" && label ? label : id };
  if (category === "item") return /^[A-Z]-\d{1,9}$/.test(id) ? { category, id, label: id } : null;
  if (category === "action") return actions.find((a) => a.id === id) ?? null;
  return category === "web" ? web : null;
}

/** The text and mentions of a document, in order, without space around them. */
export function piecesOf(doc: Node): (string | Mention)[] {
  const pieces: (string | Mention)[] = [];
  const say = (words: string) => {
    if (typeof pieces.at(-1) === "string") pieces.push(`${pieces.pop() as string}${words}`);
    else pieces.push(words);
  };
  doc.content?.forEach((block, i) => {
    if (i > 0) say("\n");
    for (const node of block.content ?? []) {
      const mention = mentionOf(node);
      if (mention) pieces.push(mention);
      else say(node.text ?? "\n");
    }
  });
  const first = pieces[0];
  if (typeof first === "string") pieces[0] = first.trimStart();
  const last = pieces.at(-1);
  if (typeof last === "string") pieces[pieces.length - 1] = last.trimEnd();
  return pieces.filter((p) => p !== "");
}
