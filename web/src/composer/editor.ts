import { Extension, type Editor, type Range } from "@tiptap/core";
import { Document } from "@tiptap/extension-document";
import { HardBreak } from "@tiptap/extension-hard-break";
import { Mention } from "@tiptap/extension-mention";
import { Paragraph } from "@tiptap/extension-paragraph";
import { Text } from "@tiptap/extension-text";
import { Placeholder, UndoRedo } from "@tiptap/extensions";
import { closeHistory } from "@tiptap/pm/history";
import { TextSelection, type Transaction } from "@tiptap/pm/state";
import { mentionLabel } from "./labels";
import { docOf, mentionNode, mentionOf, type Mention as Mentioned } from "./outgoing";

const shownLabel = (attrs: Record<string, unknown>): string => {
  const mentioned = mentionOf({ type: "mention", attrs });
  return mentioned ? mentionLabel(mentioned) : "";
};

/** An "@" that the user is typing. */
export interface Asking {
  query: string;
  range: Range;
}

/** What an editor calls in its field. */
export interface Listener {
  onAsk(asking: Asking | null): void;
  /** Whether the list for an "@" handles a key. */
  onListKey(event: KeyboardEvent): boolean;
  /** Whether Enter sends; otherwise it adds a line break. */
  enterSends(): boolean;
  onEnter(queue: boolean): void;
  onEscape(): void;
  onPaste(data: DataTransfer): void;
  placeholder(): string;
  attributes(): Record<string, string>;
}

const AtMention = Mention.extend({
  addAttributes() {
    return { ...this.parent?.(), category: { default: null, rendered: false } };
  },
}).extend({ priority: 200 }); // its list handles Enter first

const OneBreak = HardBreak.extend({
  addKeyboardShortcuts() {
    return { "Shift-Enter": () => this.editor.commands.setHardBreak() };
  },
});

/** Plain text with mentions: all that a message needs. */
export function extensions(listener: () => Listener) {
  return [
    Document,
    Paragraph,
    Text,
    OneBreak,
    UndoRedo,
    Placeholder.configure({ placeholder: () => listener().placeholder(), showOnlyWhenEditable: false }),
    AtMention.configure({
      renderHTML: ({ node }) => ["span", { class: "mention", "data-category": String(node.attrs.category) }, `@${shownLabel(node.attrs)}`],
      deleteTriggerWithBackspace: true,
      suggestion: {
        allowSpaces: true, // titles contain spaces
        allowedPrefixes: [" ", "\u00a0", "(", ",", ";", ":"],
        decorationClass: "asking",
        shouldResetDismissed: ({ match, transaction }) => transaction.docChanged && match.query === "", // after Esc a new "@" opens the list again
        render: () => ({
          onStart: ({ query, range }) => listener().onAsk({ query, range }),
          onUpdate: ({ query, range }) => listener().onAsk({ query, range }),
          onExit: () => listener().onAsk(null),
          onKeyDown: ({ event }) => listener().onListKey(event),
        }),
      },
    }),
    Extension.create({
      name: "send",
      addKeyboardShortcuts: () => ({
        Enter: ({ editor }) => {
          if (editor.view.composing) return false;
          if (!listener().enterSends()) return editor.commands.setHardBreak();
          listener().onEnter(false);
          return true;
        },
        // ProseMirror stops Esc, so that the page does not get it.
        Escape: () => {
          listener().onEscape();
          return true;
        },
        "Mod-Enter": () => {
          listener().onEnter(true);
          return true;
        },
      }),
    }),
  ];
}

/** Replaces an "@" by a mention. */
export function mention(editor: Editor, what: Mentioned, at: Range): void {
  const after = editor.state.doc.textBetween(at.to, Math.min(at.to + 1, editor.state.doc.content.size), "\n", "\n");
  const node = mentionNode(what);
  editor
    .chain()
    .focus()
    .insertContentAt(at, after === " " ? [node] : [node, { type: "text", text: " " }])
    .run();
}

/**
 * Appends a mention to the text, also while the user types elsewhere in it: focus
 * and caret stay. Only a caret at the end, in an empty text or after whitespace,
 * moves behind the mention.
 */
export function append(editor: Editor, what: Mentioned, at = endOf(editor)): void {
  const { doc, schema, selection, tr } = editor.state;
  const last = endOf(editor);
  const end = at < last && doc.resolve(at).parent.isTextblock ? at : last;
  const before = doc.resolve(end).nodeBefore;
  const gap = before !== null && before.type.name !== "hardBreak" && !/\s$/.test(before.text ?? "");
  tr.insert(end, [...(gap ? [schema.text(" ")] : []), schema.nodeFromJSON(mentionNode(what)), schema.text(" ")]);
  tr.setMeta(APPENDED, true);
  const within = (pos: number) => Math.min(Math.max(pos, 1), end); // after "select all", the selection must not include the mention
  if (end < last) {
    const [from, to] = [selection.anchor, selection.head].map((pos) => tr.mapping.map(pos, selection.empty ? 1 : -1));
    tr.setSelection(TextSelection.create(tr.doc, from!, to));
    change(editor, tr);
    return;
  }
  const [anchor, head] = [within(selection.anchor), within(selection.head)];
  const along = !gap && anchor === end && head === end;
  tr.setSelection(along ? TextSelection.atEnd(tr.doc) : TextSelection.create(tr.doc, anchor, head));
  change(editor, tr);
}

/** Makes a change that undo takes back alone, without what the user typed just before or after it. */
function change(editor: Editor, tr: Transaction): void {
  editor.view.dispatch(closeHistory(tr));
  editor.view.dispatch(closeHistory(editor.state.tr));
}

const endOf = (editor: Editor): number => editor.state.doc.content.size - 1;

const APPENDED = "appended";

/** A place in the message, which moves with the text. */
export interface Place {
  at: () => number;
  forget: () => void;
}

/** The end of the message now. What is written there later follows it; what is appended there precedes it. */
export function endPlace(editor: Editor): Place {
  let pos = endOf(editor);
  const follow = ({ transaction: tr }: { transaction: Transaction }) => (pos = tr.mapping.map(pos, tr.getMeta(APPENDED) ? 1 : -1));
  editor.on("transaction", follow);
  return { at: () => pos, forget: () => editor.off("transaction", follow) };
}

/** Writes a text with its line breaks where the caret is. */
export function insertText(editor: Editor, text: string): void {
  const { content } = docOf(text).content![0]!;
  if (content) editor.commands.insertContent(content);
}

/** Removes every occurrence of a text from the message, with the space before it. */
export function removeText(editor: Editor, words: string): void {
  const { doc, tr } = editor.state;
  doc.descendants((node, pos) => {
    const text = node.text ?? "";
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const from = text[at - 1] === " " ? at - 1 : at;
      tr.delete(tr.mapping.map(pos + from), tr.mapping.map(pos + at + words.length));
    }
  });
  change(editor, tr);
}

/** Removes every mention of a document from the message, with the space after it. */
export function removeMention(editor: Editor, id: string): void {
  const { doc, tr } = editor.state;
  doc.descendants((node, pos) => {
    if (mentionOf(node.toJSON() as { type?: string; attrs?: Record<string, unknown> })?.id !== id) return;
    const end = pos + node.nodeSize;
    tr.delete(tr.mapping.map(pos), tr.mapping.map(doc.textBetween(end, Math.min(end + 1, doc.content.size), "\n", "\ufffc") === " " ? end + 1 : end));
  });
  change(editor, tr);
}
