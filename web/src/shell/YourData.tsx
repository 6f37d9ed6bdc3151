import { Download, HardDrive, LogOut, MonitorX, SquareUserRound, Unplug, UserRound } from "lucide-react";
import { useState } from "react";
import { request } from "../api/http";
import { errorText } from "../api/query";
import { connectGoogle, disconnectGoogle, useGoogle } from "../imports/accounts";
import { forget } from "../lib/storage";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Menu, MenuItem, MenuLink } from "../ui/Menu";
import { toast } from "../ui/toast";
import { words } from "../words";
import { useMe } from "./me";
import { ProfileDialog } from "./ProfileDialog";

const signOut = (which: "this" | "others") => request(`/api/me/sessions?which=${which}`, { method: "DELETE" });

/** What a person can do with all that is theirs: say who they are, download it, and without an account sign out here or elsewhere. */
export function YourData() {
  const [leaving, setLeaving] = useState(false);
  const [disconnecting, setDisconnecting] = useState(false);
  const google = useGoogle();
  const [describing, setDescribing] = useState(false);
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
        <MenuLink icon={Download} href="/api/me/export">
          {words.account.download}
        </MenuLink>
        {google.available && google.account?.state !== "connected" && (
          <MenuItem icon={HardDrive} onSelect={() => void connectGoogle()}>
            {google.account ? words.account.google.connectAgain : words.account.google.connect}
          </MenuItem>
        )}
        {google.account && (
          <MenuItem icon={Unplug} onSelect={() => setDisconnecting(true)}>
            <span className="min-w-0">
              {words.account.google.disconnect}
              {google.account.account && <span className="block truncate text-xs text-muted">{google.account.account}</span>}
            </span>
          </MenuItem>
        )}
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
      {describing && me && <ProfileDialog profile={{ industry: me.industry ?? "", location: me.location ?? "" }} onClose={() => setDescribing(false)} />}
      {leaving && <SignOut onClose={() => setLeaving(false)} />}
      {disconnecting && <Disconnect account={google.account?.account ?? ""} onClose={() => setDisconnecting(false)} />}
    </>
  );
}

/** Asks first: without the cookie the conversations cannot be opened again. */
function SignOut({ onClose }: { onClose: () => void }) {
  const leave = async () => {
    await signOut("this");
    forget();
    location.assign("/");
  };
  return <Confirm title={words.account.signOutTitle} text={words.account.signOutWarning} action={words.account.signOutConfirm} onConfirm={leave} onClose={onClose} />;
}

function Disconnect({ account, onClose }: { account: string; onClose: () => void }) {
  const disconnect = async () => {
    const revoked = await disconnectGoogle();
    onClose();
    toast(revoked ? words.account.google.disconnected : words.account.google.disconnectedHere);
  };
  return <Confirm title={words.account.google.disconnectTitle} text={words.account.google.disconnectText(account)} action={words.account.google.disconnectConfirm} onConfirm={disconnect} onClose={onClose} />;
}

function Confirm({ title, text, action, onConfirm, onClose }: { title: string; text: string; action: string; onConfirm: () => Promise<void>; onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
    } catch (err) {
      setProblem(errorText(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="text-sm">{text}</p>
      {problem && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{words.common.cancel}</Button>
        <Button variant="primary" disabled={busy} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
