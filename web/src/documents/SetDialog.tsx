import { useState } from "react";
import type { Doc, DocSet } from "../api/types";
import { TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { words } from "../words";
import { saveSet } from "./library";
import { nameOf } from "./names";

interface Props {
  /** null for a new set. */
  set: DocSet | null;
  docs: Doc[];
  onClose: () => void;
}

export function SetDialog({ set, docs, onClose }: Props) {
  const [name, setName] = useState(set?.name ?? "");
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set(set?.doc_ids.filter((id) => docs.some((d) => d.id === id))));

  const toggle = (id: string) => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };

  return (
    <FormDialog title={set ? words.library.editSet : words.library.newSet} complete={name.trim() !== "" && ids.size > 0} save={() => saveSet(set?.id ?? null, name.trim(), [...ids])} onClose={onClose}>
      <TextField label={words.library.name} value={name} maxLength={200} onChange={setName} />
      <fieldset className="min-w-0">
        <legend className="mb-1 text-sm font-medium">{words.library.documents}</legend>
        <div className="max-h-64 overflow-y-auto rounded-lg border border-line p-1">
          {docs.filter((d) => d.status !== "failed" || ids.has(d.id)).map((d) => (
            <label key={d.id} className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 text-sm pointer-coarse:py-3 hover:bg-sunken">
              <input type="checkbox" checked={ids.has(d.id)} onChange={() => toggle(d.id)} className="size-4 shrink-0 accent-accent" />
              <span dir="auto" className="min-w-0 truncate">
                {nameOf(d)}
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  );
}
