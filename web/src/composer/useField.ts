import { useEditorState } from "@tiptap/react";
import { useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import { useConfig } from "../api/useConfig";
import { refreshLibrary, useLibrary } from "../documents/library";
import { useMedia } from "../ui/useMedia";
import { extensions, insertText, mention, type Asking, type Listener } from "./editor";
import { TOUCH } from "./focus";
import { optionId } from "./MentionList";
import { groupsOf, mentionables, mentionablesWith, step, type Category, type Mentionable } from "./mentions";
import { mentionsOf, textOf, type Node } from "./outgoing";
import { LONG } from "./pasted";
import { useEditor } from "./useEditor";

interface Options {
  /** Label for screen readers. */
  label: string;
  /** The initial content. */
  content: Node;
  placeholder: string;
  /** Items of a board, which can be mentioned besides documents; undefined without a board. */
  items?: readonly Mentionable[] | undefined;
  /** Disables typing. */
  closed?: boolean;
  /** The text answers a question: it cannot mention actions or the web. */
  answering?: boolean;
  /** Enter; queue with Ctrl. On a touch screen, Enter alone adds a line break. */
  onEnter(queue: boolean): void;
  /** Esc while no list of mentions is open. */
  onEscape(): void;
  onFiles(files: File[]): void;
  /** Gets a pasted text that is too long for a message. */
  onLongPaste?: ((text: string) => void) | undefined;
}

export type FieldState = ReturnType<typeof useField>;

const attributesOf = (label: string, touch: boolean): Record<string, string> => ({
  role: "textbox",
  class: "composer-text",
  dir: "auto",
  "aria-label": label,
  "aria-multiline": "true",
  "aria-autocomplete": "list",
  "aria-haspopup": "listbox",
  enterkeyhint: touch ? "enter" : "send",
});

export const characters = (text: string) => [...text].length;

/** State of a text field with mentions; Field shows it. */
export function useField({ label, content, placeholder, items: ofBoard, closed = false, answering = false, onEnter, onEscape, onFiles, onLongPaste }: Options) {
  const id = useId();
  const config = useConfig();
  const library = useLibrary();
  const touch = useMedia(TOUCH); // few touch keyboards have Shift+Enter
  const [asking, setAsking] = useState<Asking | null>(null);
  const [at, setAt] = useState(0);

  // The editor is created once; this gives it the newest callbacks.
  const listener = useRef<Listener>({
    onAsk: () => {},
    onListKey: () => false,
    enterSends: () => !touch,
    onEnter: () => {},
    onEscape: () => {},
    onPaste: () => {},
    placeholder: () => placeholder,
    attributes: () => attributesOf(label, touch),
  });
  const editor = useEditor({
    extensions: useMemo(() => extensions(() => listener.current), []),
    content,
    injectCSS: false,
    editorProps: useMemo(
      () => ({
        attributes: () => listener.current.attributes(),
        handlePaste: (_view: unknown, event: ClipboardEvent) => {
          if (event.clipboardData) listener.current.onPaste(event.clipboardData);
          return true;
        },
      }),
      [],
    ),
  });

  const { doc, text, used } = useEditorState({
    editor,
    selector: ({ editor: e }) => {
      const doc = e.getJSON() as Node;
      return { doc, text: textOf(doc), used: usedBy(doc) };
    },
  });
  const length = characters(text);

  const asks = asking !== null;
  useEffect(() => {
    if (asks) void refreshLibrary(); // another tab or the API may have added a document
  }, [asks]);

  const all = useMemo(
    () => (ofBoard ? mentionablesWith(ofBoard, library.docs) : mentionables(library.docs, library.sets, config.webSearch)),
    [ofBoard, library.docs, library.sets, config.webSearch],
  );
  const groups = useMemo(() => {
    const found = asking ? groupsOf(all, asking.query, new Set(used.split(",") as Category[])) : [];
    return answering ? found.filter((g) => g.category !== "action" && g.category !== "web") : found;
  }, [asking, all, used, answering]);
  const items = groups.flatMap((g) => g.items);
  const open = asking !== null && !asking.query.startsWith(" ") && (items.length > 0 || !asking.query.includes(" "));
  const active = items[at] && !items[at].disabled ? at : step(items, -1, 1);
  const close = () => setAsking(null);

  const pick = (m: Mentionable) => {
    if (asking) mention(editor, m, asking.range);
    close();
  };

  const onListKey = (e: KeyboardEvent): boolean => {
    if (!open) {
      if (e.key === "Escape") onEscape(); // an "@" without a list must not swallow Esc
      return false;
    }
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      setAt(step(items, active, e.key === "ArrowDown" ? 1 : -1));
      return items.length > 0;
    }
    if ((e.key === "Enter" && !e.shiftKey) || e.key === "Tab") {
      const item = items[active];
      if (item) pick(item);
      return item !== undefined;
    }
    return false;
  };

  useEffect(() => {
    listener.current = {
      onAsk: (next) => {
        setAsking(next);
        setAt(0);
      },
      onListKey,
      enterSends: () => !touch,
      onEnter,
      onEscape,
      onPaste: (data) => {
        const text = data.getData("text/plain");
        const cells = text !== "" && data.types.includes("text/html"); // table cells come with an image of themselves
        if (data.files.length > 0 && !cells) return onFiles([...data.files]);
        if (onLongPaste && characters(text) > Math.min(LONG, config.maxMessage)) return onLongPaste(text);
        insertText(editor, text);
      },
      placeholder: () => placeholder,
      // Screen readers follow these while the focus stays in the text.
      attributes: () => ({
        ...attributesOf(label, touch),
        ...(open && { "aria-controls": id }),
        ...(open && active >= 0 && { "aria-activedescendant": optionId(id, active) }),
        ...(closed && { "aria-disabled": "true" }),
      }),
    };
  });

  useEffect(() => {
    editor.setEditable(!closed, false); // also updates the attributes and the placeholder
  }, [editor, label, id, open, active, closed, placeholder, touch]);

  /** Inserts an "@" at the caret, which opens the list. */
  const ask = useCallback(() => {
    const { from } = editor.state.selection;
    const before = editor.state.doc.textBetween(Math.max(0, from - 1), from, "\n", "\ufffc");
    editor
      .chain()
      .focus()
      .insertContent(before.trim() === "" ? "@" : " @")
      .run();
  }, [editor]);

  /** Reads the current content: typing may be ahead of the render. */
  const read = () => {
    const written = editor.getJSON() as Node;
    const text = textOf(written);
    return { doc: written, text, tooLong: characters(text) > config.maxMessage };
  };

  const focus = useCallback(() => void editor.commands.focus("end"), [editor]);

  return { editor, doc, text, touch, length, tooLong: length > config.maxMessage, ask, read, focus, list: { id, open, groups, active, pick, close } };
}

/** The categories action and web, if used. A string, so that equal values compare equal. */
const usedBy = (doc: Node): string =>
  mentionsOf(doc)
    .map((m) => m.category)
    .filter((c) => c === "action" || c === "web")
    .join(",");
