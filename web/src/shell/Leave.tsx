import { useState } from "react";
import { errorText } from "../api/query";
import { disconnect as disconnectAccount } from "../imports/accounts";
import { clearStorage } from "../lib/storage";
import { leave } from "../session/account";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { signOut } from "./me";

/** Asks for confirmation: without the cookie, the conversations cannot be opened again. */
export function SignOut({ onClose }: { onClose: () => void }) {
  const signOutHere = async () => {
    await leave(() => signOut("this"));
    clearStorage();
    location.assign("/");
  };
  return <Confirm title={words.account.signOutTitle} text={words.account.signOutWarning} action={words.account.signOutConfirm} onConfirm={signOutHere} onClose={onClose} />;
}

export function Disconnect({ account, onClose }: { account: string; onClose: () => void }) {
  const disconnect = async () => {
    const revoked = await disconnectAccount();
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
