import { ArrowUp, AtSign, CornerDownRight, ListEnd, Paperclip, Square } from "lucide-react";
import { Suspense, use, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { errorText } from "../api/query";
import { useSpaceId } from "../api/space";
import type { Doc } from "../api/types";
import { useConfig } from "../api/useConfig";
import { commandKey } from "../lib/keys";
import { InChat, moveDocument, useLibrary } from "../documents/library";
import { nameOf } from "../documents/names";
import { useContributes, useSpace } from "../spaces/spaces";
import { IconButton } from "../ui/Button";
import { composing } from "../ui/composing";
import { layerIsOpen } from "../ui/layer";
import { lazy } from "../ui/lazy";
import { toast } from "../ui/toast";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { AnswererMenu } from "./AgentMenu";
import { Count } from "./Count";
import { readDraft, saveDraft } from "./drafts";
import { effortField, EffortMenu, useEffort } from "./EffortMenu";
import { DropZone } from "./DropZone";
import { append, endPlace, insertText, removeMention, removeText } from "./editor";
import { Field } from "./Field";
import { backToMessage, focusMessage } from "./focus";
import { keepChat } from "./newChat";
import { docOf, emptyDoc, isBlank, joined, mentionsOf, messageContent, type Node } from "./outgoing";
import { scopeOf, within } from "./scope";
import { ScopeButton, ScopeRow } from "./ScopeBar";
import { Tray } from "./Tray";
import type { ComposerProps, Outgoing } from "./types";
import { useDetached } from "./useDetached";
import { characters, useField } from "./useField";
import { PICTURES, useFiles } from "./useFiles";

const LinkChips = lazy(() => import("../imports/LinkChips"));

/** The composer. Each thread has its own, with its own draft. */
export function Composer(props: ComposerProps) {
  return <Box key={props.threadId ?? "new"} {...props} />;
}

function Box({ threadId, busy, stopping = false, disabled = false, answering = false, agent: current, model: before, placeholder, items, mentionLabel, onSend, onStop, onCancel, ref }: ComposerProps) {
  const [draft] = useState(() => readDraft(threadId));
  const { agents, models, chatAttachments, documentTypes, maxMessage } = useConfig();
  const [chosen, setAgent] = useState("");
  const ofSpace = useSpace()?.agent;
  useEffect(() => setAgent(""), [current]); // the agent of the thread changed: the choice was sent, or another branch is shown
  const agent = agents.find((a) => a.name === chosen) ?? agents.find((a) => a.name === current) ?? agents.find((a) => a.name === ofSpace) ?? agents[0];
  const [effort, setEffort] = useEffort();
  const [picked, setModel] = useState("");
  useEffect(() => setModel(""), [before]);
  const named = (name: string | undefined) => models.find((m) => m.name === name);
  const wanted = named(picked) ?? named(before);
  const picker = useRef<HTMLInputElement>(null);

  const wide = useMedia("(min-width: 640px)"); // a placeholder cannot wrap
  const closed = disabled !== false;
  const field = useField({
    label: words.composer.message,
    content: draft?.doc ?? emptyDoc,
    placeholder: typeof disabled === "string" ? disabled : (placeholder ?? (busy ? words.composer.placeholderBusy : wide ? words.composer.placeholder : words.composer.placeholderShort)),
    items,
    closed,
    answering,
    onEnter: (queue) => send(queue ? "enqueue" : "supersede"),
    onEscape: () => (busy ? !stopping && onStop() : onCancel?.()),
    onFiles: (added) => !answering && files.add(added),
    onLongPaste: answering ? undefined : (pasted) => files.paste(pasted),
  });
  const { editor, doc, text, touch, ask, focus } = field;
  const tagDocument = useCallback((d: { id: string; title: string }, at?: number) => append(editor, { category: "document", id: d.id, label: d.title }, at), [editor]);
  const scoped = !items && !answering; // a board has its own documents
  const chat = use(InChat);
  const space = useSpaceId();
  const files = useFiles(draft?.attachments ?? [], scoped && (chatAttachments || space !== "") ? chat : null, tagDocument, useCallback(() => endPlace(editor), [editor]));
  const { restore } = files;
  const addFiles = (added: Iterable<File>) => {
    files.add(added);
    focusMessage(); // the next key writes behind the attachment; on a touch screen, too: a question follows
  };
  const { docs } = useLibrary();
  const ids = useMemo(() => new Set(mentionsOf(doc).map((m) => m.id)), [doc]);
  const unreadable = docs.filter((d) => ids.has(d.id) && d.status === "failed");
  const keptIds = files.kept.map((k) => k.id);
  // Before its first message, a chat has no documents but those of that message.
  const attached = docs.filter((d) => keptIds.includes(d.id) || (scoped && threadId === null && d.conversation_id !== undefined));
  const { detach, settle } = useDetached(attached, ids, useCallback((d: Doc) => tagDocument({ id: d.id, title: nameOf(d) }), [tagDocument]));
  const contributes = useContributes();
  const moves = (d: Doc) => scoped && chat !== null && (space === "" || (contributes && d.conversation_id !== undefined && d.status === "ready")); // a space is not left for a chat
  const fits = (pasted: string | undefined) => pasted !== undefined && characters(pasted) <= maxMessage;
  const kept = attached
    .filter((d) => d.status !== "failed" && (ids.has(d.id) || d.conversation_id !== undefined))
    .map((d) => {
      const text = files.kept.find((k) => k.id === d.id)?.text;
      return { doc: d, pasted: text !== undefined, short: fits(text), moves: moves(d) };
    });
  const undo = (d: Doc) => {
    detach(d);
    removeMention(editor, d.id);
    const pasted = files.kept.find((k) => k.id === d.id)?.text;
    if (fits(pasted)) insertText(editor, pasted!);
  };
  const move = (d: Doc) => void moveDocument(d.id, d.conversation_id ? null : keepChat(chat!)).catch((err: unknown) => toast.error(errorText(err)));
  const pictures = answering ? [] : files.attachments; // images stay for the next message
  const ready = !closed && (!isBlank(text) || pictures.length > 0) && !field.tooLong && !files.sending;

  const send = (meanwhile: Outgoing["onBusy"]) => {
    const written = field.read();
    if (closed || (isBlank(written.text) && pictures.length === 0) || written.tooLong || files.sending) return;
    const out: Outgoing = { ...(scoped ? within(messageContent(written.doc), scopeOf(threadId)) : messageContent(written.doc)), attachments: pictures, onBusy: busy ? meanwhile : "supersede", ...(scoped && agent && { agent: agent.name }), ...(scoped && wanted && { model: wanted.name }), ...(!answering && effortField(effort)) };
    const settled = settle();
    if (settled) void settled.then(() => onSend(out));
    else onSend(out);
    editor.commands.clearContent(true);
    files.clear(!answering);
    field.list.close();
    saveDraft(threadId, null);
  };

  useEffect(() => {
    saveDraft(threadId, text === "" && files.attachments.length === 0 ? null : { doc, attachments: files.attachments });
  }, [threadId, doc, text, files.attachments]);

  useEffect(() => {
    if (!busy || stopping) return;
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== "Escape" || e.defaultPrevented || composing(e) || layerIsOpen()) return;
      if (e.target instanceof Element && e.target.closest("input, textarea")) return; // Esc in another field, such as the search
      onStop();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [busy, stopping, onStop]);

  useImperativeHandle(
    ref,
    () => ({
      focus,
      mention: ask,
      pickFiles: () => picker.current?.click(),
      append: (what) => {
        append(editor, what);
        editor.commands.focus("end");
      },
      begin: (lines) => {
        editor.commands.setContent(joined(docOf(`${lines.join("\n")}\n`), editor.getJSON() as Node));
        editor.commands.focus("end");
      },
      takeBack: (out) => {
        if (out.agent) setAgent(out.agent);
        if (out.model) setModel(out.model);
        editor.commands.setContent(joined(out.tiptap, editor.getJSON() as Node));
        restore(out.attachments);
      },
    }),
    [editor, ask, focus, restore],
  );

  const toSend = busy ? words.composer.stopAndSend : words.composer.send;
  return (
    <form
      data-composer
      data-busy={busy || undefined}
      aria-label={words.composer.message}
      className={`relative rounded-2xl border border-line shadow-soft transition-colors focus-within:border-edge ${closed ? "bg-sunken" : "bg-surface"}`}
      onSubmit={(e) => {
        e.preventDefault();
        thenFocus(() => send("supersede"));
      }}
    >
      {scoped && <ScopeRow threadId={threadId} />}
      <DropZone onFiles={answering || closed ? null : addFiles} />
      <Tray model={wanted?.name} attachments={files.attachments} uploads={files.uploads} unreadable={unreadable} kept={kept} onMove={move} onUndo={(d) => thenFocus(() => undo(d))} onUnmention={(id) => thenFocus(() => removeMention(editor, id))} onRemove={(id) => thenFocus(() => files.remove(id))} onDismiss={(key) => thenFocus(() => files.dismiss(key))} />
      {!answering && !closed && space === "" && text.includes(".") && (
        <Suspense fallback={null}>
          <LinkChips text={text} onRemove={(link) => thenFocus(() => removeText(editor, link))} />
        </Suspense>
      )}
      <Field field={field} />
      <div className="flex flex-wrap items-center gap-1 px-2 pb-2">
        {!answering && (
          <>
            <input
              ref={picker}
              type="file"
              multiple
              accept={[...documentTypes.flatMap((t) => t.extensions), ...PICTURES].join()}
              hidden
              onChange={(e) => {
                addFiles([...(e.target.files ?? [])]);
                e.target.value = ""; // so that the same file can be chosen again
              }}
            />
            <IconButton label={words.composer.addFiles} icon={Paperclip} disabled={closed} onClick={() => picker.current?.click()} />
          </>
        )}
        <IconButton label={mentionLabel ?? words.composer.mention} icon={AtSign} disabled={closed} onClick={ask} />
        {scoped && <ScopeButton threadId={threadId} disabled={closed} />}
        {scoped && agent && <AnswererMenu agents={agents} agent={agent} onAgent={setAgent} models={models} model={wanted ?? models.find((m) => m.default)} onModel={setModel} />}
        {scoped && <EffortMenu value={effort} onChange={setEffort} />}
        <Count length={field.length} />
        <div className="ml-auto flex shrink-0 items-center gap-1">
          {busy && <Stop stopping={stopping} onStop={() => thenFocus(onStop)} />}
          {busy && ready && <IconButton label={`${words.composer.queue}${touch ? "" : ` (${commandKey()}+${words.shortcuts.keys.enter})`}`} icon={ListEnd} onClick={() => thenFocus(() => send("enqueue"))} />}
          {busy && ready && !answering && <IconButton label={words.composer.steer} icon={CornerDownRight} onClick={() => thenFocus(() => send("steer"))} />}
          {(!busy || ready) && (
            <button
              type="submit"
              aria-label={toSend}
              title={touch ? toSend : `${toSend} (${words.shortcuts.keys.enter})`}
              disabled={!ready}
              className="inline-flex size-9 items-center justify-center rounded-lg bg-accent text-accent-ink transition-colors pointer-coarse:size-11 hover:bg-accent-strong disabled:bg-sunken disabled:text-muted"
            >
              <ArrowUp aria-hidden className="size-5" />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

/** Runs a button's action, then focuses the composer: React may have removed the button. */
function thenFocus(act: () => void) {
  act();
  backToMessage();
}

function Stop({ stopping, onStop }: { stopping: boolean; onStop: () => void }) {
  return (
    <button
      type="button"
      aria-label={stopping ? words.composer.stopping : words.composer.stop}
      title={`${words.composer.stop} (${words.shortcuts.keys.esc})`}
      disabled={stopping}
      onClick={onStop}
      className="inline-flex size-9 items-center justify-center rounded-lg border border-line text-ink transition-colors pointer-coarse:size-11 hover:border-edge hover:bg-sunken disabled:opacity-50"
    >
      <Square aria-hidden className="size-3.5 fill-current" />
    </button>
  );
}
