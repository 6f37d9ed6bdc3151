import { useState, type FormEvent } from "react";
import { errorText } from "../api/query";
import type { Doc, DocSet } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { saveSet } from "./library";

interface Props {
  /** null for a new set. */
  set: DocSet | null;
  docs: Doc[];
  onClose: () => void;
}

export function SetDialog({ set, docs, onClose }: Props) {
  const [name, setName] = useState(set?.name ?? "");
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set(set?.doc_ids.filter((id) => docs.some((d) => d.id === id))));
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState("");

  const toggle = (id: string) => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };

  const save = async (e: FormEvent) => {
    e.preventDefault();
    setSaving(true);
    try {
      await saveSet(set?.id ?? null, name.trim(), [...ids]);
      onClose();
    } catch (err) {
      setProblem(errorText(err));
      setSaving(false);
    }
  };

  return (
    <Dialog title={set ? words.library.editSet : words.library.newSet} onClose={onClose}>
      <form onSubmit={(e) => void save(e)} className="space-y-4">
        <label className="block text-sm">
          <span className="mb-1 block font-medium">{words.library.name}</span>
          <input dir="auto" value={name} maxLength={200} onChange={(e) => setName(e.target.value)} className="h-9 w-full rounded-lg border border-edge bg-surface px-3 pointer-coarse:h-11" />
        </label>
        <fieldset className="min-w-0">
          <legend className="mb-1 text-sm font-medium">{words.library.documents}</legend>
          <div className="max-h-64 overflow-y-auto rounded-lg border border-line p-1">
            {docs.map((d) => (
              <label key={d.id} className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 text-sm pointer-coarse:py-3 hover:bg-sunken">
                <input type="checkbox" checked={ids.has(d.id)} onChange={() => toggle(d.id)} className="size-4 shrink-0 accent-accent" />
                <span dir="auto" className="min-w-0 truncate">
                  {d.title}
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        {problem && (
          <p role="alert" className="text-sm text-bad">
            {problem}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button variant="plain" onClick={onClose}>
            {words.common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={saving || name.trim() === "" || ids.size === 0}>
            {words.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
