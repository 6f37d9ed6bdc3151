import { Archive, ArchiveRestore, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Conversation } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { archiveSeveral, deleteSeveral } from "./conversations";
import { MOST_AT_ONCE } from "./picking";
import type { Go } from "./useRoute";

interface Props {
  items: readonly Conversation[];
  picked: ReadonlySet<string>;
  /** Whether the archived conversations are listed. */
  archived: boolean;
  current: string | null;
  onPick: (ids: ReadonlySet<string>) => void;
  onOpen: Go;
  onDone: () => void;
}

/** A toolbar to archive or delete the selected conversations. */
export function Selection({ items, picked, archived, current, onPick, onOpen, onDone }: Props) {
  const [asking, setAsking] = useState(false);
  const ids = items.map((c) => c.id).filter((id) => picked.has(id));
  const none = ids.length === 0;
  const remove = () => {
    const open = current !== null && picked.has(current);
    if (open) onOpen(null, "replace");
    deleteSeveral(ids, () => open && location.pathname === "/" && onOpen(current, "replace"));
    onDone();
  };
  const archive = () => {
    void archiveSeveral(items.filter((c) => picked.has(c.id)), !archived);
    onDone();
  };
  return (
    <div role="toolbar" aria-label={words.shell.selection} className="space-y-1 border-t border-line px-3 py-2 text-sm">
      <div className="flex items-center gap-1">
        <span role="status" className="min-w-0 flex-1 truncate pl-2 tabular-nums">
          {words.shell.selected(ids.length)}
        </span>
        <Button variant="plain" className="px-2!" onClick={() => onPick(new Set(items.slice(0, MOST_AT_ONCE).map((c) => c.id)))}>
          {words.shell.selectAll}
        </Button>
        <Button variant="plain" className="px-2!" onClick={onDone}>
          {words.shell.done}
        </Button>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button icon={archived ? ArchiveRestore : Archive} className="flex-1" disabled={none} onClick={archive}>
          {archived ? words.shell.unarchive : words.shell.archive}
        </Button>
        <Button icon={Trash2} className="flex-1" disabled={none} onClick={() => setAsking(true)}>
          {words.shell.delete}
        </Button>
      </div>
      {asking && (
        <Dialog title={words.shell.deleteSeveral(ids.length)} onClose={() => setAsking(false)}>
          <p className="text-sm">{words.shell.deleteSeveralHelp}</p>
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <Button onClick={() => setAsking(false)}>{words.common.cancel}</Button>
            <Button variant="primary" onClick={remove}>
              {words.shell.delete}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
