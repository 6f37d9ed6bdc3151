import { CircleAlert, ExternalLink, FileText, FolderInput, FolderOutput, LoaderCircle, Pencil, RefreshCw, Trash2 } from "lucide-react";
import { memo, type MouseEvent, Suspense, useRef, useState } from "react";
import { errorText } from "../api/query";
import type { Doc, DocRef } from "../api/types";
import { reimport } from "../imports/imports";
import { sourceLabel } from "../imports/links";
import { bytes } from "../lib/format";
import { hostOf } from "../lib/host";
import { Time } from "../thread/Footnote";
import { usePeople } from "../spaces/people";
import { IconButton } from "../ui/Button";
import { deleteLater } from "../ui/deletions";
import { lazy } from "../ui/lazy";
import { besideRow } from "../ui/rows";
import { toast } from "../ui/toast";
import { words } from "../words";
import { day } from "../words/intl";
import { worded } from "../words/wire";
import { documentPath, moveDocument, refreshLibrary } from "./library";
import { RenameDialog } from "./RenameDialog";
import { nameOf } from "./names";

const MoveDialog = lazy(() => import("./MoveDialog"));

/** The row's buttons show when the pointer or the focus is in it, and always on touch. */
const shownOnHover = "relative opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100";

interface Props {
  doc: Doc;
  /** Whether the person may change it. */
  changes: boolean;
  /** Whether there is another place for it. */
  moves: boolean;
  onOpen: (doc: DocRef) => void;
}

/** A row of the library. Memoized, since a library may hold hundreds. */
export const DocumentRow = memo(function DocumentRow({ doc, changes, moves, onOpen }: Props) {
  const [renaming, setRenaming] = useState(false);
  const [moving, setMoving] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const remove = (e: MouseEvent) => {
    besideRow(e.currentTarget)?.focus();
    deleteLater({ path: documentPath(doc.id), text: words.common.deleted(nameOf(doc)), onDeleted: () => void refreshLibrary() });
  };
  const Glyph = doc.status === "failed" ? CircleAlert : doc.status === "processing" ? LoaderCircle : FileText;
  const look = doc.status === "failed" ? "text-bad" : doc.status === "processing" ? "animate-spin text-accent" : "text-muted";
  return (
    <li ref={row} data-status={doc.status} className="group relative flex items-start gap-3 rounded-lg py-2 pr-1 pl-2 hover:bg-sunken">
      <Glyph aria-hidden className={`mt-0.5 size-4 shrink-0 ${look}`} />
      <div className="min-w-0 flex-1">
        <button
          type="button"
          disabled={doc.status !== "ready"}
          className="block w-full text-left text-sm font-medium after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-accent"
          onClick={() => onOpen(doc)}
          aria-label={words.library.read(nameOf(doc))}
        >
          <span dir="auto" className="block truncate text-left">
            {nameOf(doc)}
          </span>
        </button>
        <State doc={doc} />
      </div>
      {doc.source_url?.startsWith("https://") && <SourceLink title={nameOf(doc)} url={doc.source_url} />}
      {moves && doc.conversation_id && (
        <IconButton
          label={words.library.keep(nameOf(doc))}
          icon={FolderInput}
          size="small"
          className="relative"
          onClick={(e) => {
            besideRow(e.currentTarget)?.focus();
            void moveDocument(doc.id, null).catch((err: unknown) => toast.error(errorText(err)));
          }}
        />
      )}
      {moves && !doc.public && !doc.conversation_id && doc.status === "ready" && <IconButton label={words.spaces.moveTo(nameOf(doc))} icon={FolderOutput} size="small" className={shownOnHover} onClick={() => setMoving(true)} />}
      {!doc.public && !doc.space_id && doc.source_type !== "upload" && doc.status !== "processing" && <ImportAgain doc={doc} />}
      {changes && !doc.public && (
        <IconButton
          label={words.library.rename(nameOf(doc))}
          icon={Pencil}
          size="small"
          className={shownOnHover}
          onClick={() => setRenaming(true)}
        />
      )}
      {changes && !doc.public && (
        <IconButton
          label={words.library.delete(nameOf(doc))}
          icon={Trash2}
          size="small"
          className={shownOnHover}
          onClick={remove}
        />
      )}
      {moving && (
        <Suspense fallback={null}>
          <MoveDialog doc={doc} beside={() => besideRow(row.current!)} onClose={() => setMoving(false)} />
        </Suspense>
      )}
      {renaming && <RenameDialog doc={doc} onClose={() => setRenaming(false)} />}
    </li>
  );
});

/** A link to the source of an imported document. */
function SourceLink({ title, url }: { title: string; url: string }) {
  const label = words.message.newTab(words.library.source(title));
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      aria-label={label}
      title={label}
      className="relative inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted transition-colors pointer-coarse:size-11 hover:bg-sunken hover:text-ink"
    >
      <ExternalLink aria-hidden className="size-4" />
    </a>
  );
}

/** Imports the document again, since its source may have changed. */
function ImportAgain({ doc }: { doc: Doc }) {
  const [busy, setBusy] = useState(false);
  const again = async () => {
    setBusy(true);
    try {
      const done = await reimport(doc.id);
      if (done?.state === "failed") toast.error(worded(done, done.message || words.imports.states.failed));
      else toast(!done ? words.imports.again(nameOf(doc)) : done.outcome === "duplicate" ? words.imports.unchanged(nameOf(doc)) : words.imports.replaced(nameOf(doc)));
    } catch (err) {
      toast.error(errorText(err));
    }
    setBusy(false);
  };
  return (
    <IconButton
      label={words.imports.importAgain(nameOf(doc))}
      icon={RefreshCw}
      size="small"
      disabled={busy}
      className={shownOnHover}
      onClick={() => void again()}
    />
  );
}

/** Who has put a document into the space, and when. */
function AddedBy({ id, at }: { id: string; at: string | undefined }) {
  const people = usePeople();
  return <span className="block">{at ? words.spaces.addedBy(people(id), day(new Date(at))) : people(id)}</span>;
}

function State({ doc }: { doc: Doc }) {
  if (doc.status === "failed") return <span className="block text-xs text-bad">{worded(doc, doc.error || words.library.failed)}</span>;
  if (doc.status === "processing") {
    return (
      <span role="status" className="block text-xs text-muted">
        {doc.pages && doc.unread_pages ? words.library.readingPage(doc.pages - doc.unread_pages + 1, doc.pages) : words.library.processing}
        {doc.progress ? <span aria-hidden> {words.library.percent(doc.progress)}</span> : null}
      </span>
    );
  }
  const kinds: Readonly<Record<string, string>> = words.library.kinds;
  const origins: Readonly<Record<string, string>> = words.library.origins;
  const host = doc.source_url ? hostOf(doc.source_url, location.href) : "";
  const origin = doc.source_type === "link" && host ? host : (sourceLabel(doc.source_type) ?? origins[doc.source_type]);
  return (
    <span className="block text-xs text-muted">
      {kinds[doc.format] ?? doc.format} · {bytes(doc.bytes)}
      {origin && (
        <>
          {" "}
          · {origin} · <Time at={doc.created_at} />
        </>
      )}
      {doc.added_by && <AddedBy id={doc.added_by} at={doc.created_at} />}
      {doc.unread_pages ? <span className="block text-warn">{words.library.unreadPages(doc.unread_pages, doc.pages ?? doc.unread_pages)}</span> : null}
    </span>
  );
}
