import { CircleAlert, FileText, LoaderCircle, X } from "lucide-react";
import { seesPictures } from "../api/config";
import type { Doc } from "../api/types";
import type { Upload } from "../api/uploads";
import { useConfig } from "../api/useConfig";
import { Batch } from "../ui/Batch";
import { OwnPicture } from "../ui/OwnPicture";
import { Refused } from "../ui/Refused";
import { words } from "../words";
import { worded } from "../words/wire";
import type { Attachment } from "./types";
import { nameOf } from "../documents/names";

interface Props {
  /** The chosen model; undefined: the default. */
  model: string | undefined;
  attachments: Attachment[];
  uploads: readonly Upload[];
  /** Documents in the message that failed to process. */
  unreadable: readonly Doc[];
  /** The other documents that were attached to the message. */
  kept?: readonly { doc: Doc; pasted: boolean; short: boolean; moves: boolean }[];
  /** Puts such a document that moves into the library, or back into the chat. */
  onMove?: (doc: Doc) => void;
  /** Deletes such a document. */
  onUndo?: (doc: Doc) => void;
  onRemove: (id: string) => void;
  onDismiss: (key: number) => void;
  /** Removes a document from the message. */
  onUnmention: (id: string) => void;
}

const nothing = () => {};

/** Shows the attachments of the message, and running uploads. */
export function Tray({ model, attachments, uploads, unreadable, kept = [], onMove = nothing, onUndo = nothing, onRemove, onDismiss, onUnmention }: Props) {
  const vision = seesPictures(useConfig(), model);
  if (attachments.length + uploads.length + unreadable.length + kept.length === 0) return null;
  const upload = (u: Upload) => (
    <li key={u.key} className={`flex max-w-full items-center gap-2.5 rounded-lg py-1.5 pr-1.5 pl-2.5 text-sm ${u.error ? "bg-bad-soft text-bad" : "bg-sunken"}`}>
      {u.error ? <CircleAlert aria-hidden className="size-4 shrink-0" /> : <FileText aria-hidden className="size-4 shrink-0 text-muted" />}
      <span className="min-w-0">
        <span dir="auto" className={u.error ? "block" : "block truncate"}>{u.error ?? u.name}</span>
        {!u.error && <progress aria-label={words.common.uploading(u.name)} className="bar mt-1 h-1 w-32" {...(u.progress !== null && { value: u.progress })} />}
      </span>
      <Remove name={u.name} onClick={() => onDismiss(u.key)} className="relative" />
    </li>
  );
  return (
    <>
      <Refused uploads={uploads} />
      <ul aria-label={words.composer.attachments} className="flex flex-wrap gap-2 px-3 pt-3 max-sm:max-h-44 max-sm:overflow-y-auto">
        {attachments.length > 0 && !vision && (
          <li className="basis-full text-xs text-warn">
            <span role="status">{words.composer.blind}</span>
          </li>
        )}
        {attachments.map((a) => (
          <li key={a.id} className="relative">
            <OwnPicture src={a.url} alt={a.name} title={a.name} className="size-16 rounded-lg border border-line object-cover" />
            <Remove name={a.name} onClick={() => onRemove(a.id)} className="absolute -top-1.5 -right-1.5" />
          </li>
        ))}
        <Batch items={uploads.filter((u) => !u.error)} label={words.library.uploading} look="bg-sunken" row={upload} />
        <Batch items={uploads.filter((u) => u.error)} label={words.library.notAdded} look="bg-bad-soft text-bad" row={upload} />
        {kept.map(({ doc, pasted, short, moves }) => (
          <KeptRow key={doc.id} doc={doc} pasted={pasted} short={short} onMove={moves ? onMove : undefined} onUndo={onUndo} />
        ))}
        {unreadable.map((d) => (
          <li key={d.id} className="flex max-w-full items-center gap-2.5 rounded-lg bg-bad-soft py-1.5 pr-1.5 pl-2.5 text-sm text-bad">
            <CircleAlert aria-hidden className="size-4 shrink-0" />
            <span dir="auto" role="alert" className="min-w-0">
              {words.library.uploadFailed(nameOf(d), worded(d, d.error || words.library.failed))}
            </span>
            <Remove name={nameOf(d)} onClick={() => onUnmention(d.id)} className="relative" />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A document that was attached: where it is kept, and what cannot be read of it. */
function KeptRow({ doc, pasted, short, onMove, onUndo }: { doc: Doc; pasted: boolean; short: boolean; onMove: ((doc: Doc) => void) | undefined; onUndo: (doc: Doc) => void }) {
  const name = nameOf(doc);
  const ofChat = doc.conversation_id !== undefined;
  const reading = doc.status === "processing";
  const Glyph = reading ? LoaderCircle : FileText;
  const where = ofChat ? words.composer.inChat : doc.space_id ? words.spaces.documentsOf : words.composer.inLibrary;
  const link = "rounded font-medium text-accent underline-offset-2 hover:underline pointer-coarse:py-2";
  return (
    <li className="flex max-w-full items-start gap-2.5 rounded-lg bg-sunken py-1.5 pr-1.5 pl-2.5 text-sm">
      <Glyph aria-hidden className={`mt-0.5 size-4 shrink-0 text-muted ${reading ? "animate-spin" : ""}`} />
      <span className="min-w-0">
        <span dir="auto" className="block truncate">
          {name}
        </span>
        <span className="flex flex-wrap items-baseline gap-x-2 text-xs text-muted">
          <span role="status">{pasted ? words.composer.keptAs(where) : where}</span>
          {pasted && (
            <button type="button" className={link} onClick={() => onUndo(doc)}>
              {short ? words.composer.asText : words.common.undo}
            </button>
          )}
          {onMove && (
            <button type="button" className={link} onClick={() => onMove(doc)}>
              {ofChat ? words.composer.toLibrary : words.composer.toChat}
            </button>
          )}
        </span>
        {!reading && doc.unread_pages ? (
          <span role="status" className="block text-xs text-warn">
            {words.library.unreadPages(doc.unread_pages, doc.pages ?? doc.unread_pages)}
          </span>
        ) : null}
      </span>
      {!pasted && <Remove name={name} onClick={() => onUndo(doc)} className="relative" />}
    </li>
  );
}

function Remove({ name, onClick, className = "" }: { name: string; onClick: () => void; className?: string }) {
  return (
    <button
      type="button"
      aria-label={words.common.remove(name)}
      onClick={onClick}
      className={`inline-flex size-6 shrink-0 items-center justify-center rounded-full border border-line bg-surface text-muted hover:text-ink pointer-coarse:after:absolute pointer-coarse:after:-inset-2.5 ${className}`}
    >
      <X aria-hidden className="size-3.5" />
    </button>
  );
}
