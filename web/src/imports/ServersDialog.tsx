import { useState } from "react";
import { errorText } from "../api/query";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { connect, disconnect, useToolServers, type ToolServer } from "./accounts";

/** Shows the tool servers: their state, the user's account there, and what of their tools is not used. */
export default function ServersDialog({ onClose }: { onClose: () => void }) {
  const servers = useToolServers();
  return (
    <Dialog wide title={words.account.servers.menu} onClose={onClose}>
      <ul className="divide-y divide-line text-sm">
        {servers.map((s) => (
          <Server key={s.name} server={s} />
        ))}
      </ul>
    </Dialog>
  );
}

function Server({ server: s }: { server: ToolServer }) {
  const [busy, setBusy] = useState(false);
  const w = words.account.servers;
  const states: Readonly<Record<string, string>> = w.states;
  const state = s.account ? w.accounts[s.account.state] : (s.state === "ok" ? w.tools(s.tools) : states[s.state ?? ""]) ?? "";
  const leave = async () => {
    setBusy(true);
    try {
      toast((await disconnect(s.name)) ? w.disconnected(s.name) : w.disconnectedHere(s.name));
    } catch (err) {
      toast.error(errorText(err));
    }
    setBusy(false);
  };
  return (
    <li className="py-3 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{s.name}</span>
          <span className="block text-xs text-muted">{state}</span>
        </span>
        {s.account && (
          <Button disabled={busy} aria-label={w.disconnectFrom(s.name)} onClick={() => void leave()}>
            {w.disconnect}
          </Button>
        )}
        {s.connectable && s.account?.state !== "connected" && <ConnectButton server={s.name} />}
      </div>
      {s.notes.length > 0 && (
        <ul aria-label={w.notes(s.name)} className="mt-2 space-y-1 text-xs text-muted">
          {s.notes.map((n, i) => (
            <li key={i} dir="auto" className="break-words">
              {n.left_out ? w.leftOut(n.tool ?? "", n.problem) : [n.tool, n.problem].filter(Boolean).join(": ")}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** Opens the server's sign-in. */
export function ConnectButton({ server }: { server: string }) {
  return (
    <Button variant="primary" aria-label={words.account.servers.connectTo(server)} onClick={() => void connect(server)}>
      {words.account.servers.connect}
    </Button>
  );
}
