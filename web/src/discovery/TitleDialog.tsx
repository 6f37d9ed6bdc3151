import { useState, type FormEvent } from "react";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { boardWords } from "../words/discovery";
import { problemText, renameBoard } from "./api";
import type { Board } from "./board";
import { field, Labelled, Problem } from "./fields";

export function TitleDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const [title, setTitle] = useState(board.title);
  const [goal, setGoal] = useState(board.goal);
  const [problem, setProblem] = useState("");
  const save = async (e: FormEvent) => {
    e.preventDefault();
    try {
      await renameBoard(board.id, title, goal);
      onClose();
    } catch (err) {
      setProblem(problemText(err));
    }
  };
  return (
    <Dialog title={boardWords.board.edit} onClose={onClose}>
      <form onSubmit={(e) => void save(e)} className="space-y-4">
        <Labelled label={boardWords.board.title}>
          {(id) => (
            <input id={id} dir="auto" value={title} maxLength={200} onChange={(e) => setTitle(e.target.value)} className={field} />
          )}
        </Labelled>
        <Labelled label={boardWords.board.goal}>
          {(id) => (
            <textarea id={id} dir="auto" rows={4} value={goal} maxLength={4000} onChange={(e) => setGoal(e.target.value)} className={`${field} h-auto! py-2`} />
          )}
        </Labelled>
        <Problem text={problem} />
        <div className="flex justify-end gap-2">
          <Button variant="plain" onClick={onClose}>
            {words.common.cancel}
          </Button>
          <Button type="submit" variant="primary">
            {words.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
