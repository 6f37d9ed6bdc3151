import { CheckCheck } from "lucide-react";
import { use, useState } from "react";
import type { Message } from "../../thread/types";
import { Button } from "../../ui/Button";
import { boardWords } from "../../words/discovery";
import { decide } from "../api";
import { useShown } from "../context";
import { isOpen, proposedIn } from "./proposals";
import { Edited } from "./ProposalCard";

/** A button that confirms the open proposals of an answer, one after the other. Each card shows its own result. */
export function ConfirmAll({ message }: { message: Message }) {
  const { board } = useShown();
  const edited = use(Edited);
  const [busy, setBusy] = useState(false);
  const open = proposedIn(message).flatMap((id) => board.proposals.filter((p) => p.id === id && isOpen(p))); // in the order of the answer, so that an input is added before its facts
  if (open.length < 2 && !busy) return null;
  const confirm = async () => {
    setBusy(true);
    for (const p of open) {
      const params = edited.get(p.id);
      await decide(board.id, p.id, { decision: "confirm", ...(params && { params }) }).catch(() => {}); // the board stores the reason, and the card shows it
    }
    setBusy(false);
  };
  return (
    <Button variant="primary" icon={CheckCheck} className="mt-3" disabled={busy} onClick={() => void confirm()}>
      {busy ? boardWords.card.confirming : boardWords.card.confirmAll(open.length)}
    </Button>
  );
}
