import { Download, LogOut, MonitorX, SquareUserRound, UserRound } from "lucide-react";
import { useState } from "react";
import { request } from "../api/http";
import { errorText } from "../api/query";
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
    </>
  );
}

/** Asks first: without the cookie the conversations cannot be opened again. */
function SignOut({ onClose }: { onClose: () => void }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const leave = async () => {
    setBusy(true);
    try {
      await signOut("this");
    } catch (err) {
      setProblem(errorText(err));
      setBusy(false);
      return;
    }
    forget();
    location.assign("/");
  };
  return (
    <Dialog title={words.account.signOutTitle} onClose={onClose}>
      <p className="text-sm">{words.account.signOutWarning}</p>
      {problem && (
        <p role="alert" className="mt-3 text-sm text-bad">
          {problem}
        </p>
      )}
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{words.common.cancel}</Button>
        <Button variant="primary" disabled={busy} onClick={() => void leave()}>
          {words.account.signOutConfirm}
        </Button>
      </div>
    </Dialog>
  );
}
