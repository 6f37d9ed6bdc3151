import { useState, type FormEvent, type ReactNode } from "react";
import { errorText } from "../api/query";
import { words } from "../words";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Problem } from "./fields";

interface Props {
  title: string;
  /** The label of the button that saves; absent: Save. */
  action?: string;
  /** Whether the form can be saved as it is; true if absent. */
  complete?: boolean;
  /** Stores the form. The dialog shows an error, in the words of problemText. */
  save: () => Promise<unknown>;
  problemText?: (err: unknown) => string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog with a form that is saved or cancelled. It closes once it is saved. */
export function FormDialog({ title, action = words.common.save, complete = true, save, problemText = errorText, onClose, children }: Props) {
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState("");

  const submit = async (e: FormEvent) => {
    e.preventDefault();
    setSaving(true);
    setProblem("");
    try {
      await save();
      onClose();
    } catch (err) {
      setProblem(problemText(err));
      setSaving(false);
    }
  };

  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(e) => void submit(e)} className="space-y-4">
        {children}
        <Problem text={problem} />
        <div className="flex justify-end gap-2">
          <Button variant="plain" onClick={onClose}>
            {words.common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={saving || !complete}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
