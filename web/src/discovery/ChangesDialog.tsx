import { Undo2 } from "lucide-react";
import { useState } from "react";
import { since } from "../shell/groups";
import { usePeople } from "../spaces/people";
import { useContributes } from "../spaces/spaces";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { boardWords } from "../words/discovery";
import { problemText, undo } from "./api";
import type { Board, Change } from "./board";
import { Problem } from "../ui/fields";
import { words } from "../words";

/** Lists the changes of a board that can be undone, newest first. */
export function ChangesDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const [problem, setProblem] = useState("");
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const contributes = useContributes();
  const people = usePeople();
  const back = async (change: Change) => {
    setBusy(true);
    setProblem("");
    try {
      await undo(board.id, change.n);
      setSaid(boardWords.changes.undone(nameOf(change)));
    } catch (err) {
      setProblem(boardWords.changes.failed(problemText(err)));
    }
    setBusy(false);
  };
  return (
    <Dialog title={boardWords.changes.title} onClose={onClose}>
      <Problem text={problem} />
      <p role="status" className="text-sm text-muted">
        {said}
      </p>
      {board.changes.length === 0 ? (
        <p className="text-sm text-muted">{boardWords.changes.none}</p>
      ) : (
        <ul aria-label={boardWords.changes.open} className="divide-y divide-line">
          {board.changes.map((change) => (
            <li key={change.n} className="flex items-center gap-2 py-2 text-sm">
              <span className="min-w-0 flex-1">{nameOf(change)}</span>
              <span className="text-xs text-muted">{change.who ? boardWords.form.by(people(change.who), since(change.at)) : since(change.at)}</span>
              {contributes && (
                <Button icon={Undo2} disabled={busy} aria-label={boardWords.changes.undo(nameOf(change))} onClick={() => void back(change)}>
                  {words.common.undo}
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

const nameOf = (change: Change): string => boardWords.changes.did[change.did](change.item.id);
