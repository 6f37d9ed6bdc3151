import { EditorContent, useEditor, useEditorState } from "@tiptap/react";
import { ArrowUp, AtSign, ListEnd, Paperclip, Square } from "lucide-react";
import { useCallback, useEffect, useId, useImperativeHandle, useMemo, useRef, useState } from "react";
import { useConfig } from "../api/useConfig";
import { refreshLibrary, useLibrary } from "../documents/library";
import { IconButton } from "../ui/Button";
import { AgentMenu, type Agent } from "./AgentMenu";
import "./composer.css";
import { readDraft, saveDraft } from "./drafts";
import { DropZone } from "./DropZone";
import { extensions, mention, type Asking, type Listener } from "./editor";
import { MentionList, optionId } from "./MentionList";
import { groupsOf, mentionables, step, type Category, type Mentionable } from "./mentions";
import { docOf, emptyDoc, mentionsOf, said, suggestion, textOf, type Node } from "./outgoing";
import { Tray } from "./Tray";
import type { ComposerProps } from "./types";
import { ACCEPTED, useFiles } from "./useFiles";

/** Where a person writes. Each thread has its own, with its own draft. */
export function Composer(props: ComposerProps) {
  return <Box key={props.threadId ?? "new"} {...props} />;
}

const attributes = {
  role: "textbox",
  class: "composer-text",
  "aria-label": "Message",
  "aria-multiline": "true",
  "aria-autocomplete": "list",
  "aria-haspopup": "listbox",
  enterkeyhint: "send",
};

const SHOW_COUNT_FROM = 0.9; // of the longest message
const characters = (text: string) => [...text].length;

function Box({ threadId, busy, stopping = false, disabled = false, answering = false, placeholder, onSend, onStop, ref }: ComposerProps) {
  const list = useId();
  const config = useConfig();
  const library = useLibrary();
  const [draft] = useState(() => readDraft(threadId));
  const [asking, setAsking] = useState<Asking | null>(null);
  const [active, setActive] = useState(0);
  const [agent, setAgent] = useState<Agent>("documents");
  const picker = useRef<HTMLInputElement>(null);

  const closed = disabled !== false;
  const hint = typeof disabled === "string" ? disabled : (placeholder ?? (busy ? "Write the next message" : "Ask a question, @ mentions documents"));

  // The editor is made once; it asks this for what it needs, which is always the newest.
  const listener = useRef<Listener>({ onAsk: () => {}, onListKey: () => false, onEnter: () => {}, onEscape: () => {}, placeholder: () => hint });
  const aria = useRef<Record<string, string>>({});
  const addFiles = useRef<(files: File[]) => void>(() => {});
  const paste = useRef<(text: string) => void>(() => {});
  const editor = useEditor({
    extensions: useMemo(() => extensions(() => listener.current), []),
    content: draft?.doc ?? emptyDoc,
    injectCSS: false,
    shouldRerenderOnTransaction: false,
    editorProps: useMemo(
      () => ({
        attributes: () => ({ ...attributes, ...aria.current }),
        handlePaste: (_view: unknown, event: ClipboardEvent) => {
          const pasted = [...(event.clipboardData?.files ?? [])];
          if (pasted.length > 0) addFiles.current(pasted);
          else paste.current(event.clipboardData?.getData("text/plain") ?? "");
          return true;
        },
      }),
      [],
    ),
  });

  const tagDocument = useCallback((doc: { id: string; title: string }) => editor && mention(editor, { category: "document", id: doc.id, label: doc.title }), [editor]);
  const files = useFiles(draft?.attachments ?? [], tagDocument);

  const { doc, text, used } = useEditorState({
    editor,
    selector: ({ editor: e }) => {
      const doc = e.getJSON() as Node;
      return { doc, text: textOf(doc), used: usedBy(doc) };
    },
  });

  const asks = asking !== null;
  useEffect(() => {
    if (asks) void refreshLibrary(); // a document may have come by another tab, or by the API
  }, [asks]);

  const all = useMemo(() => mentionables(library.docs, library.sets, config.webSearch), [library.docs, library.sets, config.webSearch]);
  const groups = useMemo(() => {
    const found = asking ? groupsOf(all, asking.query, new Set(used.split(",") as Category[])) : [];
    return answering ? found.filter((g) => g.name !== "Actions" && g.name !== "Web") : found;
  }, [asking, all, used, answering]);
  const items = groups.flatMap((g) => g.items);
  const open = asking !== null && !asking.query.startsWith(" ") && (items.length > 0 || !asking.query.includes(" "));
  const chosen = items[active] && !items[active].disabled ? active : step(items, -1, 1);

  const pick = (m: Mentionable) => {
    if (asking) mention(editor, m, asking.range);
    setAsking(null);
  };

  const length = characters(text);
  const tooLong = length > config.maxMessage;
  const ready = !closed && text !== "" && !tooLong && !files.sending;

  const send = (queue: boolean) => {
    if (!ready) return;
    onSend({ ...said(doc), attachments: files.attachments, onBusy: busy && queue ? "enqueue" : "supersede", ...(!threadId && { agent }) });
    editor.commands.clearContent(true);
    files.clear();
    setAsking(null);
    saveDraft(threadId, null);
  };

  const onListKey = (e: KeyboardEvent): boolean => {
    if (!open) return false;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      setActive(step(items, chosen, e.key === "ArrowDown" ? 1 : -1));
      return items.length > 0;
    }
    if ((e.key === "Enter" && !e.shiftKey) || e.key === "Tab") {
      const item = items[chosen];
      if (item) pick(item);
      return item !== undefined;
    }
    return false;
  };

  useEffect(() => {
    addFiles.current = answering ? () => {} : files.add;
    paste.current = (words) => {
      const { content } = docOf(words).content![0]!;
      if (content) editor.commands.insertContent(content);
    };
    listener.current = {
      onAsk: (next) => {
        setAsking(next);
        setActive(0);
      },
      onListKey,
      onEnter: send,
      onEscape: () => busy && !stopping && onStop(),
      placeholder: () => hint,
    };
  });

  useEffect(() => {
    saveDraft(threadId, text === "" && files.attachments.length === 0 ? null : { doc, attachments: files.attachments });
  }, [threadId, doc, text, files.attachments]);

  // What a screen reader follows while the focus stays in the text.
  useEffect(() => {
    aria.current = {
      ...(open && { "aria-controls": list }),
      ...(open && chosen >= 0 && { "aria-activedescendant": optionId(list, chosen) }),
      ...(closed && { "aria-disabled": "true" }),
    };
    editor.setEditable(!closed, false); // draws the attributes and the placeholder anew, too
  }, [editor, open, chosen, list, closed, hint]);

  useEffect(() => {
    if (!busy || stopping) return;
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== "Escape" || e.defaultPrevented || document.querySelector("[role=dialog],[role=alertdialog],[role=menu]")) return;
      onStop();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [busy, stopping, onStop]);

  const ask = useCallback(() => {
    const { from } = editor.state.selection;
    const before = editor.state.doc.textBetween(Math.max(0, from - 1), from, "\n", "\ufffc");
    editor
      .chain()
      .focus()
      .insertContent(before.trim() === "" ? "@" : " @")
      .run();
  }, [editor]);

  useImperativeHandle(
    ref,
    () => ({
      focus: () => void editor.commands.focus("end"),
      mention: ask,
      fill: (words) => {
        editor.commands.setContent(docOf(words));
        editor.commands.focus("end");
      },
      suggest: (verb, docs) => {
        editor.commands.setContent(suggestion(verb, docs));
        editor.commands.focus("end");
      },
    }),
    [editor, ask],
  );

  return (
    <form
      aria-label="Message"
      className={`relative rounded-2xl border border-line bg-surface shadow-soft transition-colors focus-within:border-edge ${closed ? "opacity-70" : ""}`}
      onSubmit={(e) => {
        e.preventDefault();
        send(false);
      }}
    >
      {!answering && !closed && <DropZone onFiles={files.add} />}
      {open && <MentionList id={list} groups={groups} active={chosen} onPick={pick} />}
      <Tray attachments={files.attachments} uploads={files.uploads} onRemove={files.remove} onDismiss={files.dismiss} />
      <EditorContent editor={editor} onBlur={() => setAsking(null)} />
      <div className="flex items-center gap-1 px-2 pb-2">
        {!answering && (
          <>
            <input
              ref={picker}
              type="file"
              multiple
              accept={ACCEPTED}
              hidden
              onChange={(e) => {
                files.add([...(e.target.files ?? [])]);
                e.target.value = ""; // the same file may be chosen again
              }}
            />
            <IconButton label="Add pictures or files" icon={Paperclip} disabled={closed} onClick={() => picker.current?.click()} />
          </>
        )}
        <IconButton label="Mention a document, set or action" icon={AtSign} disabled={closed} onClick={ask} />
        {threadId === null && <AgentMenu value={agent} onChange={setAgent} />}
        {length > config.maxMessage * SHOW_COUNT_FROM && (
          <p role="status" className={`ml-auto px-2 text-xs tabular-nums ${tooLong ? "text-bad" : "text-muted"}`}>
            {length.toLocaleString("en")} of {config.maxMessage.toLocaleString("en")} characters
          </p>
        )}
        <div className="ml-auto flex items-center gap-1">
          {busy && <Stop stopping={stopping} onStop={onStop} />}
          {busy && ready && <IconButton label="Send when the answer is complete (Ctrl+Enter)" icon={ListEnd} onClick={() => send(true)} />}
          {(!busy || ready) && (
            <button
              type="submit"
              aria-label={busy ? "Send now, ending the answer" : "Send"}
              title={busy ? "Send now, ending the answer (Enter)" : "Send (Enter)"}
              disabled={!ready}
              className="inline-flex size-9 items-center justify-center rounded-lg bg-accent text-accent-ink transition-colors hover:bg-accent-strong disabled:bg-sunken disabled:text-muted"
            >
              <ArrowUp aria-hidden className="size-5" />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

function Stop({ stopping, onStop }: { stopping: boolean; onStop: () => void }) {
  return (
    <button
      type="button"
      aria-label={stopping ? "Stopping" : "Stop"}
      title="Stop (Esc)"
      disabled={stopping}
      onClick={onStop}
      className="inline-flex size-9 items-center justify-center rounded-lg border border-line text-ink transition-colors hover:border-edge hover:bg-sunken disabled:opacity-50"
    >
      <Square aria-hidden className="size-3.5 fill-current" />
    </button>
  );
}

/** Of actions and the web, one each; as text, so that an unchanged one is equal. */
const usedBy = (doc: Node): string =>
  mentionsOf(doc)
    .map((m) => m.category)
    .filter((c) => c === "action" || c === "web")
    .join(",");
