import { Pencil } from "lucide-react";
import { memo, use, useEffect, useRef } from "react";
import type { DocRef } from "../api/types";
import type { Outgoing } from "../composer/types";
import { useMe } from "../shell/me";
import { usePeople } from "../spaces/people";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import { BranchPicker } from "./BranchPicker";
import { CopyButton } from "./CopyButton";
import { Time } from "./Footnote";
import { MessageEditor } from "./MessageEditor";
import { documentOf, picturesOf, textOf } from "./parts";
import { Pictures } from "./Pictures";
import { Shared } from "./sharing";
import type { Message } from "./types";
import { Written } from "./Written";

interface Props {
  message: Message;
  turn: string | undefined;
  versions: string[];
  /** Whether it was withdrawn while queued. */
  withdrawn: boolean;
  editing: boolean;
  /** The model that was chosen for it; set while it is edited. */
  model: string | undefined;
  /** Disables all changes while a turn runs. */
  locked: boolean;
  /** Opens the editor on a message, or closes it (null). */
  onOpen: (id: string | null) => void;
  onEdit: (turn: string, out: Outgoing) => void;
  onShow: ((turn: string) => void) | undefined;
  onRead: (doc: DocRef) => void;
}

/** A user's message with its mentions as pills. It can be edited in place. */
export const UserMessage = memo(function UserMessage({ message, turn, versions, withdrawn, editing, model, locked, onOpen, onEdit, onShow, onRead }: Props) {
  const pencil = useRef<HTMLButtonElement>(null);
  const edited = useRef(editing);
  useEffect(() => {
    if (edited.current && !editing && document.activeElement === document.body) pencil.current?.focus(); // the edit was cancelled
    edited.current = editing;
  }, [editing]);
  const sharing = use(Shared);
  const me = useMe()?.id;
  const people = usePeople();
  const other = message.metadata?.author ?? sharing.author; // than the person
  const by = other ?? (sharing.shared ? me : undefined);
  if (editing && turn) {
    return (
      <div className="ml-auto w-full max-w-[85%]">
        <MessageEditor
          message={message}
          model={model}
          onCancel={() => onOpen(null)}
          onSave={(out) => {
            onOpen(null);
            onEdit(turn, out);
          }}
        />
      </div>
    );
  }
  const text = textOf(message);
  const doc = documentOf(message);
  const pictures = picturesOf(message);
  return (
    <article aria-label={other ? people(other) : words.message.you} className="group ml-auto flex w-fit max-w-[85%] flex-col items-end">
      {by && (
        <p dir="auto" className="mb-1 max-w-full truncate text-xs font-medium text-muted">
          {people(by)}
        </p>
      )}
      <Pictures pictures={pictures} alt={words.message.attachedImage} className="mb-2 justify-end gap-2" size="max-h-56" />
      {text && (
        <p data-said dir="auto" className={`rounded-2xl rounded-br-md px-4 py-2.5 whitespace-pre-wrap ${withdrawn ? "border border-dashed border-line text-muted" : "bg-accent-soft"}`}>{doc ? <Written doc={doc} onRead={onRead} /> : text}</p>
      )}
      {withdrawn && <p className="mt-1 text-sm text-muted italic">{words.message.withdrawn}</p>}
      <footer className="mt-0.5 flex min-h-8 items-center gap-0.5 text-xs text-muted">
        <span className="flex items-center opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100">
          {text && <CopyButton text={text} label={words.message.copyMessage} />}
          {turn && !sharing.author && <IconButton ref={pencil} size="small" icon={Pencil} label={words.message.edit} disabled={locked} onClick={() => onOpen(message.id)} />}
        </span>
        {turn && <BranchPicker versions={versions} turn={turn} disabled={locked} onShow={onShow} />}
        <span className="ml-1.5">
          <Time at={message.metadata?.created_at} />
        </span>
      </footer>
    </article>
  );
});
