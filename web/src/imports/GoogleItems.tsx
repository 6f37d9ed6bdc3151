import { HardDrive, Unplug } from "lucide-react";
import { MenuItem } from "../ui/Menu";
import { words } from "../words";
import { connectGoogle, useGoogle } from "./accounts";

/** The menu items for the user's Google account. */
export default function GoogleItems({ onDisconnect }: { onDisconnect: (account: string) => void }) {
  const { available, account } = useGoogle();
  return (
    <>
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
