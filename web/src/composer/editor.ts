import { Extension, type Editor, type Range } from "@tiptap/core";
import { Document } from "@tiptap/extension-document";
import { HardBreak } from "@tiptap/extension-hard-break";
import { Mention } from "@tiptap/extension-mention";
import { Paragraph } from "@tiptap/extension-paragraph";
import { Text } from "@tiptap/extension-text";
import { Placeholder, UndoRedo } from "@tiptap/extensions";
import { mentionNode, type Mention as Mentioned } from "./outgoing";

/** An "@" that is being written. */
export interface Asking {
  query: string;
  range: Range;
}

/** What an editor tells the field that it stands in, and asks of it. */
export interface Listener {
  onAsk(asking: Asking | null): void;
  /** Whether the list under an "@" takes a key. */
  onListKey(event: KeyboardEvent): boolean;
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
}).extend({ priority: 200 }); // its list takes Enter first

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
      renderHTML: ({ node }) => ["span", { class: "mention", "data-category": String(node.attrs.category) }, `@${node.attrs.label ?? node.attrs.id}`],
      deleteTriggerWithBackspace: true,
      suggestion: {
        allowSpaces: true, // titles have them
        allowedPrefixes: [" ", "\u00a0", "(", ",", ";", ":"],
        decorationClass: "asking",
        shouldResetDismissed: ({ match, transaction }) => transaction.docChanged && match.query === "", // after Esc a new "@" asks again
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
          listener().onEnter(false);
          return true;
        },
        // ProseMirror keeps it from the page.
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

/** Puts a mention in the place of the "@" that asked for it, or at the caret. */
export function mention(editor: Editor, what: Mentioned, range?: Range): void {
  const at = range ?? { from: editor.state.selection.from, to: editor.state.selection.to };
  const after = editor.state.doc.textBetween(at.to, Math.min(at.to + 1, editor.state.doc.content.size), "\n", "\n");
  const node = mentionNode(what);
  editor
    .chain()
    .focus()
    .insertContentAt(at, after === " " ? [node] : [node, { type: "text", text: " " }])
    .run();
}
