import { Download, KeyRound, LogOut, MonitorX, SquareUserRound, UserRound } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { errorText } from "../api/query";
import { IconButton } from "../ui/Button";
import { Menu, MenuItem, MenuLink } from "../ui/Menu";
import { toast } from "../ui/toast";
import { words } from "../words";
import { signOut, useMe } from "./me";

// Loaded when they are opened.
const GoogleItems = lazy(() => import("../imports/GoogleItems"));
const KeysDialog = lazy(() => import("./KeysDialog"));
const ProfileDialog = lazy(() => import("./ProfileDialog"));
const SignOut = lazy(() => import("./Leave").then((m) => ({ default: m.SignOut })));
const Disconnect = lazy(() => import("./Leave").then((m) => ({ default: m.Disconnect })));

/** The menu for the user's data: profile, personal keys, connected accounts, export. Without an account, it also signs out here or everywhere. */
export function YourData() {
  const [leaving, setLeaving] = useState(false);
  const [disconnecting, setDisconnecting] = useState<string>(); // the account
  const [describing, setDescribing] = useState(false);
  const [managingKeys, setManagingKeys] = useState(false);
  const me = useMe();
  const others = async () => {
    try {
      await signOut("others");
      toast(words.account.othersSignedOut);
    } catch (err) {
      toast.error(errorText(err));
    }
  };
  return (
    <>
      <Menu side="top" trigger={<IconButton label={words.account.menu} icon={UserRound} />}>
        {me && (
          <MenuItem icon={SquareUserRound} onSelect={() => setDescribing(true)}>
            {words.account.profile}
          </MenuItem>
        )}
        <MenuItem icon={KeyRound} onSelect={() => setManagingKeys(true)}>
          {words.account.keys.menu}
        </MenuItem>
        <MenuLink icon={Download} href="/api/me/export">
          {words.account.download}
        </MenuLink>
        <Suspense fallback={null}>
          <GoogleItems onDisconnect={setDisconnecting} />
        </Suspense>
        {me?.anonymous && (
          <>
            <MenuItem icon={MonitorX} onSelect={() => void others()}>
              {words.account.signOutOthers}
            </MenuItem>
            <MenuItem icon={LogOut} onSelect={() => setLeaving(true)}>
              {words.account.signOut}
            </MenuItem>
          </>
        )}
      </Menu>
      <Suspense fallback={null}>
        {describing && me && <ProfileDialog profile={{ industry: me.industry ?? "", location: me.location ?? "" }} onClose={() => setDescribing(false)} />}
        {managingKeys && <KeysDialog onClose={() => setManagingKeys(false)} />}
        {leaving && <SignOut onClose={() => setLeaving(false)} />}
        {disconnecting !== undefined && <Disconnect account={disconnecting} onClose={() => setDisconnecting(undefined)} />}
      </Suspense>
    </>
  );
}
