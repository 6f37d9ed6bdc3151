import { Pencil } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../ui/Button";
import { BranchPicker } from "./BranchPicker";
import { CopyButton } from "./CopyButton";
import { Time } from "./Footnote";
import { picturesOf, textOf } from "./parts";
import type { Message } from "./types";

interface Props {
  message: Message;
  turn: string | undefined;
  versions: string[];
  /** Nothing can be changed while a turn runs. */
  locked: boolean;
  onEdit: (turn: string, text: string) => void;
  onShow: (turn: string) => void;
}

/** What a person wrote: plain text, and it can be edited in its place. */
export const UserMessage = memo(function UserMessage({ message, turn, versions, locked, onEdit, onShow }: Props) {
  const [editing, setEditing] = useState(false);
  const text = textOf(message);
  const pictures = picturesOf(message);
  if (editing && turn) {
    return (
      <Editor
        text={text}
        onCancel={() => setEditing(false)}
        onSave={(next) => {
          setEditing(false);
          onEdit(turn, next);
        }}
      />
    );
  }
  return (
    <article aria-label="You" className="group ml-auto flex w-fit max-w-[85%] flex-col items-end">
      {pictures.length > 0 && (
        <ul aria-label="Pictures" className="mb-2 flex flex-wrap justify-end gap-2">
          {pictures.map((p) => (
            <li key={p.url}>
              <a href={p.url} target="_blank" rel="noopener noreferrer">
                <img src={p.url} alt="Attached picture" loading="lazy" className="max-h-56 rounded-xl border border-line" />
              </a>
            </li>
          ))}
        </ul>
      )}
      {text && <p className="rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 whitespace-pre-wrap">{text}</p>}
      <footer className="mt-0.5 flex min-h-8 items-center gap-0.5 text-xs text-muted">
        <span className="flex items-center opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
          {text && <CopyButton text={text} label="Copy message" />}
          {turn && text && <IconButton size="small" icon={Pencil} label="Edit message" disabled={locked} onClick={() => setEditing(true)} />}
        </span>
        {turn && <BranchPicker versions={versions} turn={turn} disabled={locked} onShow={onShow} />}
        <span className="ml-1.5">
          <Time at={message.metadata?.created_at} />
        </span>
      </footer>
    </article>
  );
});

function Editor({ text, onSave, onCancel }: { text: string; onSave: (text: string) => void; onCancel: () => void }) {
  const [draft, setDraft] = useState(text);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const el = area.current;
    el?.focus();
    el?.setSelectionRange(el.value.length, el.value.length);
  }, []);
  const ready = draft.trim() !== "" && draft.trim() !== text.trim();
  return (
    <form
      aria-label="Edit message"
      className="ml-auto w-full max-w-[85%] rounded-2xl border border-accent bg-surface p-3"
      onSubmit={(e) => {
        e.preventDefault();
        if (ready) onSave(draft.trim());
      }}
      onKeyDown={(e) => {
        if (e.key === "Escape") {
          e.preventDefault();
          e.stopPropagation();
          onCancel();
        }
        if (e.key === "Enter" && !e.shiftKey && !e.nativeEvent.isComposing && e.target === area.current) {
          e.preventDefault();
          if (ready) onSave(draft.trim());
        }
      }}
    >
      <textarea ref={area} aria-label="Edited text" value={draft} rows={Math.min(12, draft.split("\n").length + 1)} onChange={(e) => setDraft(e.target.value)} className="block w-full resize-none bg-transparent px-1 outline-none" />
      <div className="mt-2 flex justify-end gap-2">
        <Button variant="plain" onClick={onCancel}>
          Cancel
        </Button>
        <Button variant="primary" type="submit" disabled={!ready}>
          Send
        </Button>
      </div>
    </form>
  );
}
