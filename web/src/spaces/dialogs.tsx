import { useId, useState } from "react";
import { ArchiveRestore } from "lucide-react";
import { useQuery } from "@tanstack/react-query";
import { getJSON, request } from "../api/http";
import { errorText } from "../api/query";
import { useConfig } from "../api/useConfig";
import { efforts } from "../composer/EffortMenu";
import { agentText } from "../composer/labels";
import { refreshLibrary } from "../documents/library";
import { useToolServers } from "../imports/accounts";
import { useMe } from "../shell/me";
import { CopyButton } from "../thread/CopyButton";
import { IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { field, Given, Labelled, Problem, TextArea, TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { dateTime } from "../words/intl";
import { usePeople } from "./people";
import { changeSpace, createSpace, deleteSpace, EVERY_SERVER, leaveSpace, spacePath, type Space } from "./spaces";

const MAX_NAME = 100;
const MAX_INSTRUCTIONS = 4000;

interface Props {
  space: Space;
  onClose: () => void;
}

/** Creates a space. Everything but its name can be set later. */
export function NewSpace({ onMade, onClose }: { onMade: (id: string) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  return (
    <FormDialog title={words.spaces.makeTitle} action={words.spaces.create} complete={name.trim() !== ""} save={async () => onMade(await createSpace({ name: name.trim() }))} onClose={onClose}>
      <p className="text-sm text-muted">{words.spaces.makeHelp}</p>
      <TextField label={words.spaces.name} placeholder={words.spaces.nameExample} value={name} maxLength={MAX_NAME} onChange={setName} />
    </FormDialog>
  );
}

/** Shows the person's id, which a manager of a space needs. */
export function Join({ onClose }: { onClose: () => void }) {
  const id = useMe()?.id ?? "";
  return (
    <Dialog title={words.spaces.joinTitle} onClose={onClose}>
      <p className="text-sm text-muted">{words.spaces.joinHelp}</p>
      <div className="mt-3 flex items-center gap-2">
        <Given autoFocus label={words.spaces.yourId} value={id} />
        <CopyButton text={id} label={words.spaces.copyId} />
      </div>
    </Dialog>
  );
}

/** The name, the instructions, and how the space answers. Only managers change them. */
export function SettingsDialog({ space, onClose }: Props) {
  const { agents, offline, sharedLinks } = useConfig();
  const [name, setName] = useState(space.name);
  const [instructions, setInstructions] = useState(space.instructions ?? "");
  const [agent, setAgent] = useState(space.agent ?? "");
  const [effort, setEffort] = useState(space.effort ?? "");
  const [everybody, setEverybody] = useState(space.public_documents);
  const [links, setLinks] = useState(space.public_links);
  const known = useToolServers().map((s) => s.name);
  const [tools, setTools] = useState(space.tool_servers);
  const usual = { value: "", label: words.spaces.usual };
  const fields = (
    <>
      <TextField label={words.spaces.name} value={name} maxLength={MAX_NAME} onChange={setName} />
      <TextArea label={words.spaces.instructions} placeholder={words.spaces.instructionsExample} help={words.spaces.instructionsHelp} value={instructions} maxLength={MAX_INSTRUCTIONS} onChange={setInstructions} />
      {agents.length > 1 && <Choice label={words.spaces.agent} value={agent} options={[usual, ...agents.map((a) => ({ value: a.name, label: agentText(a).label }))]} onChange={setAgent} />}
      {!offline && <Choice label={words.spaces.effort} value={effort} options={[usual, ...efforts.filter((e) => e !== "default").map((e) => ({ value: e, label: words.composer.efforts[e].label }))]} onChange={setEffort} />}
      <Tick label={words.spaces.publicDocuments} checked={everybody} onChange={setEverybody} />
      {known.length > 0 && <Servers names={[...new Set([...known, ...tools.filter((name) => name !== EVERY_SERVER)])]} allowed={tools} onChange={setTools} />}
      {sharedLinks && <Tick label={words.spaces.publicLinks} checked={links} onChange={setLinks} />}
    </>
  );
  if (space.role !== "manager") {
    return (
      <Dialog title={space.name} onClose={onClose}>
        <p className="mb-4 text-sm text-muted">
          {words.spaces.yourRole(words.spaces.roles[space.role])}. {words.spaces.onlyManagers}
        </p>
        <fieldset disabled className="space-y-4">
          {fields}
        </fieldset>
      </Dialog>
    );
  }
  const save = async () => {
    await changeSpace(space.id, { name: name.trim(), instructions: instructions.trim(), agent, effort, public_documents: everybody, public_links: links, tool_servers: tools });
    toast(words.spaces.saved);
  };
  return (
    <FormDialog title={words.spaces.settingsOf(space.name)} complete={name.trim() !== ""} save={save} onClose={onClose}>
      {fields}
    </FormDialog>
  );
}

function Tick({ label, checked, onChange }: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label className="flex cursor-pointer items-center gap-2.5 text-sm pointer-coarse:min-h-11">
      <input type="checkbox" checked={checked} onChange={(e) => onChange(e.target.checked)} className="size-4 shrink-0 accent-accent" />
      {label}
    </label>
  );
}

/** Which tool servers the space allows. */
function Servers({ names, allowed, onChange }: { names: string[]; allowed: readonly string[]; onChange: (allowed: string[]) => void }) {
  const all = allowed.includes(EVERY_SERVER);
  return (
    <fieldset className="space-y-1">
      <legend className="mb-1 text-sm font-medium">{words.spaces.toolServers}</legend>
      <Tick label={words.spaces.allToolServers} checked={all} onChange={(on) => onChange(on ? [EVERY_SERVER] : names)} />
      {!all && names.map((name) => <Tick key={name} label={name} checked={allowed.includes(name)} onChange={(on) => onChange(on ? [...allowed, name] : allowed.filter((a) => a !== name))} />)}
    </fieldset>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Labelled label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(e) => onChange(e.target.value)} className={field}>
          {options.map((o) => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Asks before the person leaves a space. */
export function LeaveDialog({ space, onLeft, onClose }: Props & { onLeft: () => void }) {
  const me = useMe()?.id ?? "";
  return (
    <FormDialog title={words.spaces.leaveTitle(space.name)} action={words.spaces.leaveConfirm} save={() => leaveSpace(space, me, onLeft)} onClose={onClose}>
      <p className="text-sm">{words.spaces.leaveHelp}</p>
    </FormDialog>
  );
}

/** Deletes a space when its name is typed. */
export function DeleteDialog({ space, onDeleted, onClose }: Props & { onDeleted: () => void }) {
  const [typed, setTyped] = useState("");
  return (
    <FormDialog title={words.spaces.deleteTitle(space.name)} action={words.spaces.deleteConfirm} complete={typed.trim() === space.name} save={() => deleteSpace(space, onDeleted)} onClose={onClose}>
      <p className="text-sm">{words.spaces.deleteHelp}</p>
      <a href={`${spacePath(space.id)}/export`} download={`${space.name}.zip`} className="block w-fit text-sm font-medium text-accent underline underline-offset-2">
        {words.spaces.exportFirst}
      </a>
      <TextField autoFocus label={words.spaces.typeName(space.name)} value={typed} maxLength={MAX_NAME} onChange={setTyped} />
    </FormDialog>
  );
}

interface Deleted {
  id: string;
  title: string;
  added_by?: string;
  deleted_at: string;
}

/** The documents that were deleted in a space, which contributors can restore. */
export function DeletedDocuments({ space, onClose }: Props) {
  const path = `${spacePath(space.id)}/deleted`;
  const { data, error, refetch } = useQuery({ queryKey: ["spaces", space.id, "deleted"], queryFn: async ({ signal }) => (await getJSON<{ items: Deleted[] | null }>(path, { signal })).items ?? [] });
  const people = usePeople();
  const [problem, setProblem] = useState("");
  const about = useId();
  const restore = async (d: Deleted) => {
    try {
      await request(`${path}/${encodeURIComponent(d.id)}/restore`, { method: "POST" });
      toast(words.spaces.restoredDocument(d.title));
      await Promise.all([refetch(), refreshLibrary()]);
    } catch (err) {
      setProblem(errorText(err));
    }
  };
  return (
    <Dialog title={words.spaces.deletedDocumentsTitle} onClose={onClose}>
      <p id={about} className="text-sm text-muted">
        {data?.length === 0 ? words.spaces.noDeletedDocuments : words.spaces.deletedDocumentsHelp}
      </p>
      <Problem text={problem || (error ? errorText(error) : "")} />
      <ul aria-describedby={about} className="mt-2 divide-y divide-line">
        {data?.map((d) => (
          <li key={d.id} className="flex items-center gap-3 py-2 text-sm">
            <div className="min-w-0 flex-1">
              <p dir="auto" className="truncate font-medium">
                {d.title}
              </p>
              <p className="text-xs text-muted">{d.added_by ? `${people(d.added_by)} · ${dateTime(new Date(d.deleted_at))}` : dateTime(new Date(d.deleted_at))}</p>
            </div>
            <IconButton icon={ArchiveRestore} label={words.spaces.restoreDocument(d.title)} onClick={() => void restore(d)} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
