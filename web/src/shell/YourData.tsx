import { Download, Gauge, KeyRound, LogOut, MonitorX, Settings, ShieldCheck, SquareUserRound, Trash2, UserRound } from "lucide-react";
import { Suspense, useState } from "react";
import { errorText } from "../api/query";
import { useSession, type Account } from "../session/account";
import { signOutOfAccount } from "../session/start";
import { IconButton } from "../ui/Button";
import { lazy } from "../ui/lazy";
import { Menu, MenuHeading, MenuItem, MenuLink, MenuTab } from "../ui/Menu";
import { toast } from "../ui/toast";
import { words } from "../words";
import { signOut, useMe } from "./me";

// Loaded when the user opens them.
const GoogleItems = lazy(() => import("../imports/GoogleItems"));
const KeysDialog = lazy(() => import("./KeysDialog"));
const ProfileDialog = lazy(() => import("./ProfileDialog"));
const UsageDialog = lazy(() => import("./UsageDialog"));
const ServersDialog = lazy(() => import("../imports/ServersDialog"));
const DeleteDialog = lazy(() => import("./DeleteDialog"));
const SignOut = lazy(() => import("./Leave").then((m) => ({ default: m.SignOut })));
const Disconnect = lazy(() => import("./Leave").then((m) => ({ default: m.Disconnect })));

/** The dialog that the menu has opened. */
type Opened = "profile" | "keys" | "usage" | "servers" | "delete" | "leave" | { disconnect: string };

/** The menu for the user's data: profile, personal keys, usage, connected accounts, export, deletion and sign-out. */
export function YourData() {
  const [opened, open] = useState<Opened>();
  const { account } = useSession();
  const me = useMe();
  const close = () => open(undefined);
  return (
    <>
      <Menu side="top" trigger={<IconButton label={account ? words.account.yours : words.account.menu} icon={account ? UserRound : Settings} />}>
        {account && <MenuHeading text={words.account.yours} detail={account.name || words.account.nameless} />}
        {me && (
          <MenuItem icon={SquareUserRound} onSelect={() => open("profile")}>
            {words.account.profile}
          </MenuItem>
        )}
        <MenuItem icon={KeyRound} onSelect={() => open("keys")}>
          {words.account.keys.menu}
        </MenuItem>
        <MenuItem icon={Gauge} onSelect={() => open("usage")}>
          {words.account.usage}
        </MenuItem>
        {me?.admin && (
          <MenuTab icon={ShieldCheck} href={() => "/admin"}>
            {words.account.admin}
          </MenuTab>
        )}
        <MenuLink icon={Download} href="/api/me/export">
          {words.account.download}
        </MenuLink>
        <Suspense fallback={null}>
          <GoogleItems onDisconnect={(name) => open({ disconnect: name })} onServers={() => open("servers")} />
        </Suspense>
        {me?.id && (
          <MenuItem danger icon={Trash2} onSelect={() => open("delete")}>
            {words.account.deleteAll}
          </MenuItem>
        )}
        <SignOutItems account={account} anonymous={me?.anonymous === true} onLeave={() => open("leave")} />
      </Menu>
      <Suspense fallback={null}>
        {opened === "profile" && me && <ProfileDialog profile={me} onClose={close} />}
        {opened === "keys" && <KeysDialog onClose={close} />}
        {opened === "servers" && <ServersDialog onClose={close} />}
        {opened === "usage" && <UsageDialog onClose={close} />}
        {opened === "delete" && me?.id && <DeleteDialog id={me.id} onClose={close} />}
        {opened === "leave" && <SignOut onClose={close} />}
        {typeof opened === "object" && <Disconnect account={opened.disconnect} onClose={close} />}
      </Suspense>
    </>
  );
}

/** Menu items that sign out of the account; without an account, out of this browser or all others. */
function SignOutItems({ account, anonymous, onLeave }: { account: Account | undefined; anonymous: boolean; onLeave: () => void }) {
  if (account) {
    return (
      <MenuItem icon={LogOut} onSelect={() => void leaveAccount()}>
        {words.account.signOut}
      </MenuItem>
    );
  }
  if (!anonymous) return null;
  return (
    <>
      <MenuItem icon={MonitorX} onSelect={() => void signOutOthers()}>
        {words.account.signOutOthers}
      </MenuItem>
      <MenuItem icon={LogOut} onSelect={onLeave}>
        {words.account.signOut}
      </MenuItem>
    </>
  );
}

async function leaveAccount(): Promise<void> {
  toast(words.account.signingOut);
  await signOutOfAccount();
}

async function signOutOthers(): Promise<void> {
  try {
    await signOut("others");
    toast(words.account.othersSignedOut);
  } catch (err) {
    toast.error(errorText(err));
  }
}
