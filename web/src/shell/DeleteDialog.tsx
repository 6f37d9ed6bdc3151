import { useState } from "react";
import { ApiError, request } from "../api/http";
import { errorText } from "../api/query";
import { clearStorage } from "../lib/storage";
import { leave, useSession } from "../session/account";
import { signOutOfAccount } from "../session/start";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";

/** A large account needs several requests. Each continues where the last one stopped (503). */
const TRIES = 20;

async function deleteEverything(id: string): Promise<void> {
  for (let n = 1; ; n++) {
    try {
      await request(`/api/me?confirm=${encodeURIComponent(id)}`, { method: "DELETE" });
      return;
    } catch (err) {
      if (n === TRIES || !(err instanceof ApiError) || err.status !== 503) throw err;
      await new Promise((go) => setTimeout(go, 1_000));
    }
  }
}

/** Deletes all data of the user, after they have confirmed it. */
export default function DeleteDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const { account } = useSession();
  const [sure, setSure] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const run = async () => {
    setBusy(true);
    setProblem("");
    try {
      await leave(() => deleteEverything(id));
      if (account) return await signOutOfAccount();
      clearStorage();
      location.assign("/");
    } catch (err) {
      setProblem(errorText(err));
      setBusy(false);
    }
  };
  return (
    <Dialog title={words.account.deleteTitle} onClose={onClose}>
      <div className="space-y-3 text-sm">
        <p>{words.account.deleteWarning}</p>
        {account && <p className="text-muted">{words.account.deleteAccount}</p>}
        <label className="flex items-center gap-2.5 pointer-coarse:min-h-11">
          <input type="checkbox" className="size-4 accent-accent" checked={sure} onChange={(e) => setSure(e.target.checked)} />
          {words.account.deleteSure}
        </label>
        {problem && (
          <p role="alert" className="text-bad">
            {problem}
          </p>
        )}
      </div>
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button disabled={busy} onClick={onClose}>
          {words.common.cancel}
        </Button>
        <Button variant="primary" disabled={!sure || busy} onClick={() => void run()}>
          {busy ? words.account.deleting : words.account.deleteConfirm}
        </Button>
      </div>
    </Dialog>
  );
}
