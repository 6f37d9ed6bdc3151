import { Copy } from "lucide-react";
import { useState } from "react";
import { errorText } from "../api/query";
import { copyConversation } from "../shell/conversations";
import { usePeople } from "../spaces/people";
import { Button } from "../ui/Button";
import { toast } from "../ui/toast";
import { words } from "../words";
import { readHead } from "./heads";

interface Props {
  threadId: string;
  author: string;
  onCopied: (id: string) => void;
}

/** Stands where the composer would be in a conversation that somebody else shares: it is continued in a copy. */
export function CopyBar({ threadId, author, onCopied }: Props) {
  const people = usePeople();
  const [busy, setBusy] = useState(false);
  const copy = async () => {
    setBusy(true);
    try {
      onCopied(await copyConversation(threadId, readHead(threadId)));
      toast(words.spaces.copied);
    } catch (err) {
      toast.error(errorText(err));
      setBusy(false);
    }
  };
  return (
    <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-2 rounded-2xl border border-line bg-sunken px-4 py-3 text-sm">
      <p className="min-w-48 flex-1">{words.spaces.copyHelp(people(author))}</p>
      <Button variant="primary" icon={Copy} disabled={busy} onClick={() => void copy()}>
        {words.spaces.copy}
      </Button>
    </div>
  );
}
