import { useState } from "react";
import { field, Labelled, TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { boardWords } from "../words/discovery";
import { problemText, renameBoard } from "./api";
import type { Board } from "./board";

export function TitleDialog({ board, onClose }: { board: Board; onClose: () => void }) {
  const [title, setTitle] = useState(board.title);
  const [goal, setGoal] = useState(board.goal);
  return (
    <FormDialog title={boardWords.board.edit} save={() => renameBoard(board.id, title, goal)} problemText={problemText} onClose={onClose}>
      <TextField label={boardWords.board.title} value={title} maxLength={200} onChange={setTitle} />
      <Labelled label={boardWords.board.goal}>
        {(id) => (
          <textarea id={id} dir="auto" rows={4} value={goal} maxLength={4000} onChange={(e) => setGoal(e.target.value)} className={`${field} h-auto! py-2`} />
        )}
      </Labelled>
    </FormDialog>
  );
}
