import { Trash2 } from "lucide-react";
import { useId, useRef, useState, type FormEvent } from "react";
import { errorText } from "../api/query";
import { CopyButton } from "../thread/CopyButton";
import { useSpaces } from "../spaces/spaces";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { field, Given } from "../ui/fields";
import { toast } from "../ui/toast";
import { words } from "../words";
import { fullDay } from "../words/intl";
import { createKey, MAX_KEY_NAME, revokeKey, useKeys, type Key, type NewKey } from "./keys";

const DAYS = ["30", "90", "365", "0"] as const;
type Days = (typeof DAYS)[number];

/** The user's keys for other programs. The text of a new key is only in the state of this dialog, until it closes. */
export default function KeysDialog({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewKey>();
  return (
    <Dialog wide title={words.account.keys.title} onClose={onClose}>
      <div className="space-y-5">
        <p className="text-sm text-muted">{words.account.keys.help}</p>
        <NewKeyForm onMade={setMade} />
        {made && <Made key={made.id} made={made} />}
        <KeyList onRevoked={(id) => made?.id === id && setMade(undefined)} />
      </div>
    </Dialog>
  );
}

function NewKeyForm({ onMade }: { onMade: (key: NewKey) => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState<Days>("365");
  const [space, setSpace] = useState("");
  const spaces = useSpaces()?.filter((s) => !s.deleted_at) ?? [];
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const endsId = useId();
  const spaceId = useId();

  const make = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      onMade(await createKey(name.trim(), Number(days), space));
      setName("");
    } catch (err) {
      setProblem(errorText(err));
    }
    setBusy(false);
  };

  return (
    <form aria-label={words.account.keys.make} onSubmit={(e) => void make(e)} className="space-y-3 text-sm">
      <div className="flex flex-wrap items-end gap-3">
        <label className="block min-w-48 flex-1">
          <span className="mb-1 block font-medium">{words.account.keys.name}</span>
          <input dir="auto" value={name} placeholder={words.account.keys.nameExample} maxLength={MAX_KEY_NAME} onChange={(e) => setName(e.target.value)} className={field} />
        </label>
        <div>
          <label htmlFor={endsId} className="mb-1 block font-medium">
            {words.account.keys.ends}
          </label>
          <select id={endsId} value={days} onChange={(e) => setDays(e.target.value as Days)} className={field}>
            {DAYS.map((d) => (
              <option key={d} value={d}>
                {words.account.keys.endsAfter[d]}
              </option>
            ))}
          </select>
        </div>
        {spaces.length > 0 && (
          <div className="max-w-full">
            <label htmlFor={spaceId} className="mb-1 block font-medium">
              {words.account.keys.where}
            </label>
            <select id={spaceId} value={space} onChange={(e) => setSpace(e.target.value)} className={field}>
              <option value="">{words.account.keys.everywhere}</option>
              {spaces.map((s) => (
                <option key={s.id} value={s.id}>
                  {s.name}
                </option>
              ))}
            </select>
          </div>
        )}
        <Button type="submit" variant="primary" disabled={busy || name.trim() === ""}>
          {words.account.keys.create}
        </Button>
      </div>
      {problem && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
    </form>
  );
}

/** Shows the new key until the dialog closes. It cannot be shown again. */
function Made({ made }: { made: NewKey }) {
  return (
    <div className="rounded-xl border border-line bg-sunken p-3 text-sm">
      <p role="status">{words.account.keys.created(made.name)}</p>
      <div className="mt-2 flex items-center gap-2">
        <Given label={words.account.keys.key(made.name)} value={made.key} />
        <CopyButton text={made.key} label={words.account.keys.copy} />
      </div>
    </div>
  );
}

function KeyList({ onRevoked }: { onRevoked: (id: string) => void }) {
  const { data, error } = useKeys();
  const top = useRef<HTMLHeadingElement>(null);
  if (!data) {
    return (
      <p role={error ? "alert" : "status"} className="text-sm text-muted">
        {error ? errorText(error) : words.account.keys.loading}
      </p>
    );
  }
  const revoked = (key: Key) => {
    toast(words.account.keys.revoked(key.name));
    onRevoked(key.id);
    top.current?.focus(); // the focused button was removed
  };
  return (
    <section aria-label={words.account.keys.list}>
      <h3 ref={top} tabIndex={-1} className="mb-1 text-sm font-medium rounded">
        {words.account.keys.list}
      </h3>
      {data.items.length === 0 ? (
        <p className="text-sm text-muted">{words.account.keys.none}</p>
      ) : (
        <ul className="divide-y divide-line">
          {data.items.map((key) => (
            <Row key={key.id} of={key} onRevoked={() => revoked(key)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ of, onRevoked }: { of: Key; onRevoked: () => void }) {
  const space = useSpaces()?.find((s) => s.id === of.space_id);
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const revoke = async () => {
    setBusy(true);
    try {
      await revokeKey(of.id);
      onRevoked();
    } catch (err) {
      setProblem(errorText(err));
      setBusy(false);
    }
  };
  return (
    <li className="py-2 text-sm">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <p dir="auto" className="truncate font-medium" title={of.name}>
            {of.name}
          </p>
          <p className="text-xs text-muted">
            {of.used_at ? words.account.keys.used(date(of.used_at)) : words.account.keys.neverUsed} · {end(of.expires_at)}
            {of.space_id && ` · ${words.account.keys.only(space?.name ?? "…")}`}
          </p>
        </div>
        {!asking && <IconButton icon={Trash2} label={words.account.keys.revoke(of.name)} onClick={() => setAsking(true)} />}
      </div>
      {asking && (
        <div className="mt-1 flex flex-wrap items-center justify-end gap-2">
          <p role="alert" className={`min-w-48 flex-1 ${problem ? "text-bad" : ""}`}>
            {problem || words.account.keys.revokeWarning}
          </p>
          <Button autoFocus onClick={() => setAsking(false)}>
            {words.common.cancel}
          </Button>
          <Button variant="primary" disabled={busy} onClick={() => void revoke()}>
            {words.account.keys.revokeConfirm}
          </Button>
        </div>
      )}
    </li>
  );
}

const date = (iso: string): string => fullDay(new Date(iso));

function end(iso: string | undefined): string {
  if (!iso) return words.account.keys.endless;
  return Date.parse(iso) > Date.now() ? words.account.keys.endsOn(date(iso)) : words.account.keys.ended(date(iso));
}
