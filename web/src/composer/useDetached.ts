import { useEffect, useRef } from "react";
import type { Doc } from "../api/types";
import { documentPath, refreshLibrary } from "../documents/library";
import { nameOf } from "../documents/names";
import { deleteLater, type Waiting } from "../ui/deletions";
import { words } from "../words";

/**
 * Deletes what was attached to the message and is no longer a part of it: attached are such
 * documents, mentioned the ids in the message. One that is in the library stays there. Undo and
 * a mention that comes back keep it; onBack mentions it again.
 */
export function useDetached(attached: readonly Doc[], mentioned: ReadonlySet<string>, onBack: (doc: Doc) => void) {
  const leaving = useRef(new Map<string, Waiting>());
  const before = useRef(mentioned);
  const detach = (doc: Doc) => {
    if (leaving.current.has(doc.id)) return;
    const forget = () => leaving.current.delete(doc.id);
    const onUndo = () => {
      forget();
      onBack(doc);
    };
    leaving.current.set(doc.id, deleteLater({ path: documentPath(doc.id), text: words.common.deleted(nameOf(doc)), onUndo, onDeleted: () => void refreshLibrary() }));
  };
  useEffect(() => {
    for (const id of mentioned) {
      if (before.current.has(id)) continue;
      leaving.current.get(id)?.keep();
      leaving.current.delete(id);
    }
    for (const doc of attached) if (before.current.has(doc.id) && !mentioned.has(doc.id) && doc.conversation_id !== undefined) detach(doc);
    before.current = mentioned;
  }, [mentioned]);
  return {
    /** Deletes a document. */
    detach,
    /** Ends the deletions that wait, so that no answer uses such a document; undefined without any. */
    settle: (): Promise<unknown> | undefined => {
      const all = [...leaving.current.values()];
      leaving.current.clear();
      before.current = new Set();
      return all.length > 0 ? Promise.all(all.map((w) => w.now())) : undefined;
    },
  };
}
