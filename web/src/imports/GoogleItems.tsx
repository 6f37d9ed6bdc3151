import { HardDrive, Unplug, Wrench } from "lucide-react";
import { MenuItem } from "../ui/Menu";
import { words } from "../words";
import { connectGoogle, useGoogle, useToolServers } from "./accounts";

/** The menu items for the user's Google account and for the tool servers. */
export default function GoogleItems({ onDisconnect, onServers }: { onDisconnect: (account: string) => void; onServers: () => void }) {
  const { available, account } = useGoogle();
  const servers = useToolServers();
  return (
    <>
      {servers.length > 0 && (
        <MenuItem icon={Wrench} onSelect={onServers}>
          {words.account.servers.menu}
        </MenuItem>
      )}
      {available && account?.state !== "connected" && (
        <MenuItem icon={HardDrive} onSelect={() => void connectGoogle()}>
          {account ? words.account.google.connectAgain : words.account.google.connect}
        </MenuItem>
      )}
      {account && (
        <MenuItem icon={Unplug} onSelect={() => onDisconnect(account.account ?? "")}>
          <span className="min-w-0">
            {words.account.google.disconnect}
            {account.account && <span className="block truncate text-xs text-muted">{account.account}</span>}
          </span>
        </MenuItem>
      )}
    </>
  );
}
