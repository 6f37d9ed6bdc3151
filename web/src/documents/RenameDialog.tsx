import { useState, type FormEvent } from "react";
import { errorText } from "../api/query";
import type { Doc } from "../api/types";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { renameDocument } from "./library";

/** Changes the title of a document. The name of its file stays, and finds it too. */
export function RenameDialog({ doc, onClose }: { doc: Doc; onClose: () => void }) {
  const [title, setTitle] = useState(doc.title);
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState("");

  const save = async (e: FormEvent) => {
    e.preventDefault();
    setSaving(true);
    try {
      await renameDocument(doc.id, title.trim());
      onClose();
    } catch (err) {
      setProblem(errorText(err));
      setSaving(false);
    }
  };

  return (
    <Dialog title={words.library.renameDocument} onClose={onClose}>
      <form onSubmit={(e) => void save(e)} className="space-y-4">
        <label className="block text-sm">
          <span className="mb-1 block font-medium">{words.library.title}</span>
          <input dir="auto" value={title} maxLength={200} onChange={(e) => setTitle(e.target.value)} className="h-9 w-full rounded-lg border border-edge bg-surface px-3 pointer-coarse:h-11" />
        </label>
        {problem && (
          <p role="alert" className="text-sm text-bad">
            {problem}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button variant="plain" onClick={onClose}>
            {words.common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={saving || title.trim() === ""}>
            {words.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
