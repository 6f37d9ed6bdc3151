import { useState, type FormEvent } from "react";
import { ApiError, getJSON } from "../api/http";
import { errorText } from "../api/query";
import { documentPath, useLibrary } from "../documents/library";
import { short } from "../lib/format";
import { usePeople } from "../spaces/people";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { boardWords } from "../words/discovery";
import { dateTime } from "../words/intl";
import { addItem, editItem, knownBoard, problemText, similarIn, type Done, type ItemChange } from "./api";
import { before, MAX_TEXT, outputTypes, type Board, type Cited, type Graph, type Item, type Kind, type Version } from "./board";
import { Diff } from "./Diff";
import { field, Labelled, Problem } from "../ui/fields";
import { OutputType } from "./OutputType";
import { Quoted } from "./Quoted";
import { Relations } from "./Relations";
import { Evidence } from "./Evidence";
import { nameOf } from "../documents/names";

interface Props {
  board: Board;
  graph: Graph;
  kind: Kind;
  /** The item to edit; absent for a new one. */
  item?: Item;
  /** Whether the earlier versions are expanded at first. */
  versions?: boolean;
  onClose: () => void;
  onDone: (done: Done) => void;
  /** Opens the passage that the item cites. */
  onSource: (cited: Cited) => void;
}

interface Fields {
  text: string;
  title: string;
  type: string;
  status: string;
  related: string[];
  /** The document that a new input is made from; empty if there is none. */
  documentId: string;
}

/** Why the item could not be saved: similar items exist, it was changed elsewhere, or it was deleted (gone). */
type Conflict = { what: "similar"; ids: string[] } | { what: "changed"; now: Item } | { what: "gone" };

const fieldsOf = (item: Item | undefined, kind: Kind): Fields => ({ text: item?.text ?? "", title: item?.title ?? "", type: item?.type ?? (kind === "output" ? outputTypes[0] : ""), status: item?.status ?? "", related: item?.related ?? [], documentId: item?.documentId ?? "" });

const same = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((x, i) => x === b[i]);

/** The fields that the user has changed, for the request. */
function changesOf(was: Fields, now: Fields): ItemChange {
  return {
    ...(now.text !== was.text && { text: now.text }),
    ...(now.title !== was.title && { title: now.title }),
    ...(now.type !== was.type && { type: now.type }),
    ...(now.status !== was.status && { status: now.status }),
    ...(!same(now.related, was.related) && { related_ids: now.related }),
  };
}

/** What was written for new items, by board and column, when Esc or a click outside closed their forms. */
const unsaved = new Map<string, Fields>();

/** A form for a new item, or to edit one. */
export function ItemDialog({ board, graph, kind, item, versions = false, onClose, onDone, onSource }: Props) {
  // The state when the dialog was opened. Changes from elsewhere do not enter the form.
  const [start] = useState({ item, revision: board.revision });
  const column = `${board.id} ${kind}`;
  const [fields, setFields] = useState(() => (!item && unsaved.get(column)) || fieldsOf(item, kind));
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [problem, setProblem] = useState("");
  const [saving, setSaving] = useState(false);
  const set = (change: Partial<Fields>) => setFields((f) => ({ ...f, ...change }));
  const length = [...fields.text.trim()].length;

  const send = async (revision: number, allowSimilar = false): Promise<void> => {
    if (!start.item) {
      const { related, documentId, ...rest } = fields;
      return onDone(await addItem(board.id, { entity_type: kind, ...rest, ...(related.length > 0 && { related_ids: related }), ...(documentId && { document_id: documentId }) }, allowSimilar));
    }
    try {
      onDone(await editItem(board.id, start.item.id, changesOf(fieldsOf(start.item, kind), fields), revision));
    } catch (err) {
      const now = knownBoard(board.id);
      const there = now?.items.find((i) => i.id === start.item!.id);
      if (!(err instanceof ApiError) || err.status !== 412 || !there || !untouched(start.item, there)) throw err;
      return send(now!.revision); // only other items have changed
    }
  };

  const cancel = () => {
    unsaved.delete(column);
    onClose();
  };
  const leave = () => {
    if (!item) unsaved.set(column, fields);
    onClose();
  };

  const save = async (revision = start.revision, allowSimilar = false) => {
    setSaving(true);
    setProblem("");
    try {
      await send(revision, allowSimilar);
      cancel();
    } catch (err) {
      setSaving(false);
      const ids = similarIn(err);
      const there = knownBoard(board.id)?.items.find((i) => i.id === start.item?.id);
      if (ids.length > 0) setConflict({ what: "similar", ids });
      else if (start.item && !there) setConflict({ what: "gone" });
      else if (err instanceof ApiError && err.status === 412 && there) setConflict({ what: "changed", now: there });
      else setProblem(problemText(err));
    }
  };

  const submit = (e: FormEvent) => {
    e.preventDefault();
    if (!conflict) void save();
  };

  return (
    <Dialog wide title={item ? boardWords.form.edit(item.id) : boardWords.form.add[kind]} onClose={leave}>
      <form onSubmit={submit} className="space-y-4">
        {kind === "input" && !item && <FromLibrary onText={(documentId, title, text) => set({ documentId, title, text, type: "document" })} onNone={() => set({ documentId: "" })} onProblem={setProblem} />}
        {kind === "input" && (
          <Labelled label={boardWords.form.title}>
            {(id) => (
              <input id={id} dir="auto" value={fields.title} maxLength={200} onChange={(e) => set({ title: e.target.value })} className={field} />
            )}
          </Labelled>
        )}
        <Labelled label={boardWords.form.text}>
          {(id) => (
            <textarea id={id} autoFocus={!versions} dir="auto" rows={6} value={fields.text} onChange={(e) => set({ text: e.target.value })} className={`${field} h-auto! max-h-80 resize-y py-2`} />
          )}
        </Labelled>
        {length > MAX_TEXT * 0.9 && <p className={`text-xs ${length > MAX_TEXT ? "text-bad" : "text-muted"}`}>{boardWords.form.tooLong(length, MAX_TEXT)}</p>}
        <div className="grid gap-4 sm:grid-cols-2">
          {kind === "output" && <OutputType value={fields.type} onChange={(type) => set({ type })} />}
          {kind === "input" && (
            <Labelled label={boardWords.form.type}>
              {(id) => (
                <input id={id} dir="auto" value={fields.type} maxLength={60} placeholder={boardWords.form.typeExample} onChange={(e) => set({ type: e.target.value })} className={field} />
              )}
            </Labelled>
          )}
          <Labelled label={boardWords.form.status}>
            {(id) => (
              <input id={id} dir="auto" value={fields.status} maxLength={60} placeholder={boardWords.form.statusExample} onChange={(e) => set({ status: e.target.value })} className={field} />
            )}
          </Labelled>
        </div>
        {kind !== "input" && <Relations legend={boardWords.form.relations[kind]} items={board.items.filter((i) => i.kind === before(kind))} value={fields.related} onChange={(related) => set({ related })} />}
        {item?.cited && <Evidence cited={item.cited} onOpen={(cited) => (onClose(), onSource(cited))} />}
        {item && <Versions item={graph.find(item.id) ?? item} open={versions} onUse={(text) => set({ text })} />}
        <Problem text={problem} />
        {conflict?.what === "similar" && (
          <Ask text={boardWords.form.similar}>
            {conflict.ids.map((id) => (
              <Quoted key={id} label={id} text={graph.find(id)?.text ?? ""} />
            ))}
            <Button onClick={() => setConflict(null)}>{words.common.cancel}</Button>
            <Button variant="primary" onClick={() => void save(board.revision, true)}>
              {boardWords.form.addAnyway}
            </Button>
          </Ask>
        )}
        {conflict?.what === "changed" && (
          <Ask text={boardWords.form.changed}>
            <Quoted label={boardWords.form.theirs} text={conflict.now.text} />
            <div className="w-full text-sm">
              <p className="text-xs font-medium text-muted">{boardWords.form.yours}</p>
              <Diff before={conflict.now.text} after={fields.text} />
            </div>
            <Button onClick={onClose}>{boardWords.form.keepTheirs}</Button>
            <Button variant="primary" onClick={() => void save(board.revision)}>
              {boardWords.form.overwrite}
            </Button>
          </Ask>
        )}
        {conflict?.what === "gone" && <Problem text={boardWords.form.gone} />}
        {!conflict && (
          <div className="flex justify-end gap-2">
            <Button variant="plain" onClick={cancel}>
              {words.common.cancel}
            </Button>
            <Button type="submit" variant="primary" disabled={saving || length === 0 || length > MAX_TEXT}>
              {item ? words.common.save : boardWords.form.saveNew}
            </Button>
          </div>
        )}
      </form>
    </Dialog>
  );
}

/** Whether the fields that the form edits are unchanged. The stale mark may have changed. */
const untouched = (was: Item, now: Item): boolean => was.version === now.version && was.title === now.title && was.type === now.type && was.status === now.status && same(was.related, now.related);

const Ask = ({ text, children }: { text: string; children: React.ReactNode }) => (
  <div role="alert" className="flex flex-wrap justify-end gap-2 rounded-xl border border-warn bg-warn-soft p-3">
    <p className="w-full text-sm font-medium text-warn">{text}</p>
    {children}
  </div>
);

/** Chooses a document of the library for an input, and fills in its title and the beginning of its text. */
function FromLibrary({ onText, onNone, onProblem }: { onText: (id: string, title: string, text: string) => void; onNone: () => void; onProblem: (text: string) => void }) {
  const { docs } = useLibrary();
  const [chosen, setChosen] = useState("");
  const ready = docs.filter((d) => d.status === "ready");
  if (ready.length === 0) return null;
  const choose = async (id: string) => {
    setChosen(id);
    onProblem("");
    const doc = ready.find((d) => d.id === id);
    if (!doc) return onNone();
    try {
      const { text } = await getJSON<{ text: string }>(`${documentPath(id)}/text`, { headers: { Accept: "application/json" } });
      const letters = [...text.trim()];
      if (letters.length > MAX_TEXT) onProblem(boardWords.form.documentCut(MAX_TEXT));
      onText(id, short(doc.title, 200), letters.slice(0, MAX_TEXT).join(""));
    } catch (err) {
      onProblem(boardWords.form.documentFailed(errorText(err)));
    }
  };
  return (
    <Labelled label={boardWords.form.fromLibrary}>
      {(id) => (
        <select id={id} value={chosen} onChange={(e) => void choose(e.target.value)} className={field}>
          <option value="">{boardWords.form.chooseDocument}</option>
          {ready.map((d) => (
            <option key={d.id} value={d.id}>
              {nameOf(d)}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

/** Lists the versions of an item, newest first. */
function Versions({ item, open, onUse }: { item: Item; open: boolean; onUse: (text: string) => void }) {
  const people = usePeople();
  const writer = (v: Version) => {
    const who = v === all[0] ? item.who : v.by_id;
    return who ? people(who) : (boardWords.authors[v.by] ?? v.by);
  };
  const all: Version[] = [...item.earlier, item].reverse();
  return (
    <details open={open} className="rounded-xl border border-line px-3 py-2 text-sm">
      <summary className="cursor-pointer font-medium pointer-coarse:py-2">{boardWords.form.versions}</summary>
      {all.length === 1 && <p className="mt-2 text-muted">{boardWords.form.noVersions}</p>}
      <ol className="mt-2 space-y-3">
        {all.map((v, i) => (
          <li key={v.version}>
            <p className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
              <span className="font-medium text-ink">{boardWords.form.version(v.version)}</span>
              {i === 0 && <span>({boardWords.form.current})</span>}
              <span>{boardWords.form.by(writer(v), dateTime(new Date(v.at)))}</span>
              {i > 0 && (
                <button type="button" className="ml-auto rounded-md px-2 py-1 font-medium text-accent pointer-coarse:py-2.5 hover:bg-accent-soft" onClick={() => onUse(v.text)}>
                  {boardWords.form.use}
                </button>
              )}
            </p>
            {i + 1 < all.length ? <Diff before={all[i + 1]!.text} after={v.text} /> : <Quoted text={v.text} />}
          </li>
        ))}
      </ol>
    </details>
  );
}
