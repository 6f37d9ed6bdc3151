import { useState } from "react";
import { currentSpace } from "../api/space";
import type { Doc } from "../api/types";
import { useSpaces } from "../spaces/spaces";
import { Labelled, field } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { moveToSpace } from "./library";
import { nameOf } from "./names";

/** Moves a document from the person's library into a space, or back. Its row leaves the list; beside says where the focus goes then. */
export default function MoveDialog({ doc, beside, onClose }: { doc: Doc; beside: () => HTMLElement | undefined; onClose: () => void }) {
  const here = currentSpace();
  const spaces = (useSpaces() ?? []).filter((s) => !s.deleted_at && s.role !== "reader");
  const places = here === "" ? spaces.map(({ id, name }) => ({ id, name })) : [{ id: "", name: words.spaces.ownShort }];
  const [chosen, choose] = useState(places[0]?.id ?? "");
  const save = async () => {
    const next = beside();
    await moveToSpace(doc.id, chosen);
    setTimeout(() => next?.focus()); // after the dialog has given it back to the row
    toast(words.spaces.moved(nameOf(doc), places.find((p) => p.id === chosen)!.name));
  };
  return (
    <FormDialog title={words.spaces.moveTo(nameOf(doc))} action={words.spaces.move} save={save} onClose={onClose}>
      <Labelled label={words.spaces.moveTitle}>
        {(id) => (
          <select id={id} value={chosen} onChange={(e) => choose(e.target.value)} className={field}>
            {places.map((p) => (
              <option key={p.id} value={p.id}>
                {p.name}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      <p className="text-sm text-muted">{here === "" ? words.spaces.moveHelp : words.spaces.moveBackHelp}</p>
    </FormDialog>
  );
}
