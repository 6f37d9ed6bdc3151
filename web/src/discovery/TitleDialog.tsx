import { useState } from "react";
import { field, Labelled, TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { boardWords } from "../words/discovery";
import { problemText } from "./api";

interface Props {
  /** The title of the dialog. */
  label: string;
  /** The board as it is; absent for a new one, which needs a title. */
  board?: { title: string; goal: string };
  save: (title: string, goal: string) => Promise<unknown>;
  onClose: () => void;
}

export function TitleDialog({ label, board, save, onClose }: Props) {
  const [title, setTitle] = useState(board?.title ?? "");
  const [goal, setGoal] = useState(board?.goal ?? "");
  return (
    <FormDialog title={label} complete={board !== undefined || title.trim() !== ""} save={() => save(title, goal)} problemText={problemText} onClose={onClose}>
      <TextField label={boardWords.board.title} value={title} maxLength={200} onChange={setTitle} />
      <Labelled label={boardWords.board.goal}>
        {(id) => (
          <textarea id={id} dir="auto" rows={4} value={goal} maxLength={4000} onChange={(e) => setGoal(e.target.value)} className={`${field} h-auto! py-2`} />
        )}
      </Labelled>
    </FormDialog>
  );
}
