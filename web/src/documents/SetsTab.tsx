import { Layers, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Doc, DocSet } from "../api/types";
import { Button, IconButton } from "../ui/Button";
import { deleteLater } from "../ui/deletions";
import { besideRow } from "../ui/rows";
import { useContributes } from "../spaces/spaces";
import { words } from "../words";
import { refreshLibrary, setPath } from "./library";
import { SetDialog } from "./SetDialog";
import { nameOf } from "./names";

export function SetsTab({ docs, sets }: { docs: Doc[]; sets: DocSet[] }) {
  const [editing, setEditing] = useState<DocSet | "new" | null>(null);
  const contributes = useContributes();
  const titles = new Map(docs.map((d) => [d.id, nameOf(d)]));
  return (
    <>
      {contributes && (
        <Button icon={Plus} onClick={() => setEditing("new")} disabled={docs.length === 0}>
          {words.library.newSet}
        </Button>
      )}
      {sets.length === 0 && <p className="mt-4 text-sm text-muted">{words.library.aboutSets}</p>}
      <ul aria-label={words.library.sets} className="-mx-2 mt-3">
        {sets.map((set) => (
          <li key={set.id} className="flex items-start gap-3 rounded-lg py-2 pr-1 pl-2 hover:bg-sunken">
            <Layers aria-hidden className="mt-1 size-4 shrink-0 text-muted" />
            <span className="min-w-0 flex-1">
              <span dir="auto" className="block truncate text-left text-sm font-medium">
                {set.name}
              </span>
              <span className="line-clamp-2 text-xs text-muted">{set.doc_ids.map((id) => titles.get(id) ?? words.library.missingDocument).join(", ") || words.library.emptySet}</span>
            </span>
            {contributes && (
              <>
                <IconButton label={words.library.edit(set.name)} icon={Pencil} size="small" onClick={() => setEditing(set)} />
                <IconButton
                  label={words.library.delete(set.name)}
                  icon={Trash2}
                  size="small"
                  onClick={(e) => {
                    besideRow(e.currentTarget)?.focus();
                    deleteLater({ path: setPath(set.id), text: words.library.setDeleted(set.name), onDeleted: () => void refreshLibrary() });
                  }}
                />
              </>
            )}
          </li>
        ))}
      </ul>
      {editing && <SetDialog set={editing === "new" ? null : editing} docs={docs} onClose={() => setEditing(null)} />}
    </>
  );
}
