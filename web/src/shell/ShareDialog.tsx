import { Link2Off } from "lucide-react";
import { useRef, useState } from "react";
import { errorText } from "../api/query";
import type { Conversation } from "../api/types";
import { CopyButton, copyText } from "../thread/CopyButton";
import { readHead } from "../thread/heads";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Given } from "../ui/fields";
import { toast } from "../ui/toast";
import { words } from "../words";
import { dateTime } from "../words/intl";
import { createShare, revokeShare, useShares, type NewShare, type Share } from "./shares";

/** Makes and revokes links to a copy of a conversation. A new link is only in the state of this dialog, until it closes. */
export default function ShareDialog({ conversation: c, onClose }: { conversation: Conversation; onClose: () => void }) {
  const [made, setMade] = useState<NewShare>();
  const [copied, setCopied] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const create = async () => {
    setBusy(true);
    setProblem("");
    try {
      const share = await createShare(c.id, readHead(c.id));
      setCopied(await copyText(location.origin + share.path));
      setMade(share);
    } catch (err) {
      setProblem(errorText(err));
    }
    setBusy(false);
  };
  return (
    <Dialog title={words.share.title} onClose={onClose}>
      <div className="space-y-5 text-sm">
        <p className="text-muted">{words.share.help}</p>
        {made ? (
          <Made key={made.id} url={location.origin + made.path} copied={copied} />
        ) : (
          <Button variant="primary" disabled={busy} onClick={() => void create()}>
            {words.share.create}
          </Button>
        )}
        {problem && (
          <p role="alert" className="text-bad">
            {problem}
          </p>
        )}
        <Links thread={c.id} onRevoked={(id) => made?.id === id && setMade(undefined)} />
      </div>
    </Dialog>
  );
}

function Made({ url, copied }: { url: string; copied: boolean }) {
  return (
    <div className="rounded-xl border border-line bg-sunken p-3">
      <p role="status">{copied ? words.share.createdCopied : words.share.created}</p>
      <div className="mt-2 flex items-center gap-2">
        <Given autoFocus label={words.share.link} value={url} />
        <CopyButton text={url} label={words.share.copy} />
      </div>
    </div>
  );
}

function Links({ thread, onRevoked }: { thread: string; onRevoked: (id: string) => void }) {
  const { data, error } = useShares(thread);
  const top = useRef<HTMLHeadingElement>(null);
  if (!data) {
    return (
      <p role={error ? "alert" : "status"} className="text-muted">
        {error ? errorText(error) : words.share.loading}
      </p>
    );
  }
  const revoke = async (share: Share) => {
    try {
      await revokeShare(thread, share.id);
    } catch (err) {
      return toast.error(errorText(err));
    }
    toast(words.share.revoked);
    onRevoked(share.id);
    top.current?.focus(); // the focused button was removed
  };
  return (
    <section aria-label={words.share.links}>
      <h3 ref={top} tabIndex={-1} className="mb-1 font-medium rounded">
        {words.share.links}
      </h3>
      {data.items.length === 0 ? (
        <p className="text-muted">{words.share.none}</p>
      ) : (
        <ul className="divide-y divide-line">
          {data.items.map((s) => {
            const when = dateTime(new Date(s.created_at));
            return (
              <li key={s.id} className="flex items-center gap-2 py-1">
                <span className="min-w-0 flex-1">{words.share.madeOn(when)}</span>
                <IconButton icon={Link2Off} label={words.share.revoke(when)} onClick={() => void revoke(s)} />
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}
