import { useState } from "react";
import type { Doc } from "../api/types";
import { TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { words } from "../words";
import { renameDocument } from "./library";

/** Changes the title of a document. The search also finds it by the name of its file, which does not change. */
export function RenameDialog({ doc, onClose }: { doc: Doc; onClose: () => void }) {
  const [title, setTitle] = useState(doc.title);
  return (
    <FormDialog title={words.library.renameDocument} complete={title.trim() !== ""} save={() => renameDocument(doc.id, title.trim())} onClose={onClose}>
      <TextField label={words.library.title} value={title} maxLength={200} onChange={setTitle} />
    </FormDialog>
  );
}
