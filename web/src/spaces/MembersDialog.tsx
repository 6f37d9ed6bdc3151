import { Trash2, UserRound, UsersRound } from "lucide-react";
import { useId, useRef, useState, type FormEvent } from "react";
import { errorText } from "../api/query";
import { useMe } from "../shell/me";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { field, Labelled, Problem } from "../ui/fields";
import { toast } from "../ui/toast";
import { words } from "../words";
import { fullDay } from "../words/intl";
import { usePeople } from "./people";
import { putMember, refreshSpaces, removeMember, ROLES, useMembers, type Member, type Role, type Space, type Who } from "./spaces";

const MAX_ID = 200;

/** The members of a space and their roles, for its managers. */
export default function MembersDialog({ space, onClose }: { space: Space; onClose: () => void }) {
  return (
    <Dialog wide title={words.spaces.membersOf(space.name)} onClose={onClose}>
      <div className="space-y-5">
        <AddForm space={space} />
        <MemberList space={space} />
      </div>
    </Dialog>
  );
}

function RoleSelect({ label, value, id, onChange }: { label?: string; value: Role; id?: string; onChange: (role: Role) => void }) {
  return (
    <select id={id} aria-label={label} value={value} onChange={(e) => onChange(e.target.value as Role)} className={`${field} w-auto!`}>
      {ROLES.map((r) => (
        <option key={r} value={r}>
          {words.spaces.roles[r]}
        </option>
      ))}
    </select>
  );
}

function AddForm({ space }: { space: Space }) {
  const [kind, setKind] = useState<Who["kind"]>("person");
  const [id, setId] = useState("");
  const [role, setRole] = useState<Role>("reader");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const help = useId();
  const add = async (e: FormEvent) => {
    e.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      const who = { kind, id: id.trim() };
      await putMember(space.id, who, role);
      await refreshSpaces();
      toast(words.spaces.memberAdded(who.id));
      setId("");
      input.current?.focus();
    } catch (err) {
      setProblem(errorText(err));
    }
    setBusy(false);
  };
  return (
    <form aria-label={words.spaces.addMember} onSubmit={(e) => void add(e)} className="space-y-3 text-sm">
      <div className="flex flex-wrap items-end gap-3">
        <Labelled label={words.spaces.kind}>
          {(at) => (
            <select id={at} value={kind} onChange={(e) => setKind(e.target.value as Who["kind"])} className={field}>
              <option value="person">{words.spaces.person}</option>
              <option value="group">{words.spaces.group}</option>
            </select>
          )}
        </Labelled>
        <div className="min-w-48 flex-1">
          <Labelled label={kind === "person" ? words.spaces.personId : words.spaces.groupName}>
            {(at) => <input ref={input} id={at} autoFocus dir="auto" autoComplete="off" spellCheck={false} aria-describedby={help} value={id} maxLength={MAX_ID} onChange={(e) => setId(e.target.value)} className={field} />}
          </Labelled>
        </div>
        <Labelled label={words.spaces.role}>{(at) => <RoleSelect id={at} value={role} onChange={setRole} />}</Labelled>
        <Button type="submit" variant="primary" disabled={busy || id.trim() === ""}>
          {words.spaces.add}
        </Button>
      </div>
      <p id={help} className="text-muted">
        {kind === "person" ? words.spaces.personHelp : words.spaces.groupHelp} {words.spaces.roles[role]}: {words.spaces.roleHelp[role]}.
      </p>
      <Problem text={problem} />
    </form>
  );
}

function MemberList({ space }: { space: Space }) {
  const { data, error } = useMembers(space.id);
  const top = useRef<HTMLHeadingElement>(null);
  if (!data) {
    return (
      <p role={error ? "alert" : "status"} className="text-sm text-muted">
        {error ? errorText(error) : words.spaces.loadingMembers}
      </p>
    );
  }
  return (
    <section aria-label={words.spaces.list}>
      <h3 ref={top} tabIndex={-1} className="mb-1 text-sm font-medium rounded">
        {words.spaces.list}
      </h3>
      <ul className="divide-y divide-line">
        {data.map((m) => (
          <Row key={`${m.kind} ${m.id}`} space={space} member={m} onRemoved={() => top.current?.focus()} />
        ))}
      </ul>
    </section>
  );
}

function Row({ space, member: m, onRemoved }: { space: Space; member: Member; onRemoved: () => void }) {
  const me = useMe()?.id;
  const people = usePeople();
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState("");
  const person = m.kind === "person";
  const name = person ? people(m.id) : m.id;
  const own = person && m.id === me; // one leaves the space from its menu
  const Glyph = person ? UserRound : UsersRound;
  const when = fullDay(new Date(m.added_at));

  /** Changes the member, and shows an error. */
  const change = async (send: () => Promise<void>): Promise<boolean> => {
    setProblem("");
    try {
      await send();
      await refreshSpaces();
      return true;
    } catch (err) {
      setProblem(errorText(err));
      return false;
    }
  };
  const remove = async () => {
    if (!(await change(() => removeMember(space.id, m)))) return;
    toast(words.spaces.memberRemoved(name));
    onRemoved(); // the focused button was removed
  };
  return (
    <li className="py-2 text-sm">
      <div className="flex flex-wrap items-center justify-end gap-x-3 gap-y-1">
        <Glyph aria-hidden className="size-4 shrink-0 text-muted" />
        <div className="min-w-48 flex-1">
          <p dir="auto" className="truncate font-medium" title={m.id}>
            {name}
          </p>
          <p className="text-xs text-muted">
            {person ? words.spaces.person : words.spaces.group} · {m.added_by && m.added_by !== m.id ? words.spaces.addedBy(people(m.added_by), when) : words.spaces.addedOn(when)}
          </p>
        </div>
        <RoleSelect label={words.spaces.roleOf(name)} value={m.role} onChange={(role) => void change(() => putMember(space.id, m, role))} />
        {!own && !asking && <IconButton icon={Trash2} label={words.spaces.removeMember(name)} onClick={() => setAsking(true)} />}
      </div>
      <Problem text={problem} />
      {asking && (
        <div className="mt-1 flex flex-wrap items-center justify-end gap-2">
          <p role="alert" className="min-w-48 flex-1">
            {words.spaces.removeWarning(name)}
          </p>
          <Button autoFocus onClick={() => setAsking(false)}>
            {words.common.cancel}
          </Button>
          <Button variant="primary" onClick={() => void remove()}>
            {words.spaces.removeConfirm}
          </Button>
        </div>
      )}
    </li>
  );
}
