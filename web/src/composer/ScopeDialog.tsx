import { useState } from "react";
import { useSpaceId } from "../api/space";
import { useConfig } from "../api/useConfig";
import { useLibrary } from "../documents/library";
import { useConversation } from "../shell/conversations";
import { useSpaces } from "../spaces/spaces";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SearchField } from "../ui/SearchField";
import { Middle } from "../ui/Middle";
import { words } from "../words";
import { MOST, scopeOf, setScope } from "./scope";
import { nameOf } from "../documents/names";

interface Choice {
  id: string;
  title: string;
}

/** Chooses which documents and sets a thread may use, and whether the web. */
export default function ScopeDialog({ threadId, onClose }: { threadId: string | null; onClose: () => void }) {
  const library = useLibrary();
  const { webSearch } = useConfig();
  const [ids, setIds] = useState<ReadonlySet<string>>(() => {
    const scope = scopeOf(threadId);
    return new Set([...(scope?.docs ?? []), ...(scope?.sets ?? []), ...(scope?.spaces ?? [])].map((d) => d.id));
  });
  const kept = useConversation(threadId)?.space_ids ?? [];
  const inSpace = useSpaceId() !== "";
  const spaces = (useSpaces() ?? []).filter((s) => !inSpace && !s.deleted_at).map((s): Choice => ({ id: s.id, title: s.name }));
  const [noWeb, setNoWeb] = useState(() => scopeOf(threadId)?.noWeb === true);
  const [search, setSearch] = useState("");
  const sets = library.sets.map((s): Choice => ({ id: s.id, title: s.name }));
  const docs = library.docs.filter((d) => d.status !== "failed").map((d) => ({ ...d, title: nameOf(d) }));
  const chosen = { docs: docs.filter((d) => ids.has(d.id)).map(({ id, title }) => ({ id, title })), sets: sets.filter((s) => ids.has(s.id)) };
  const added = spaces.filter((s) => ids.has(s.id) || kept.includes(s.id));
  const count = chosen.docs.length + chosen.sets.length;
  const toggle = (id: string) => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };
  const save = () => {
    setScope(threadId, count > 0 || added.length > 0 || noWeb ? { ...chosen, ...(added.length > 0 && { spaces: added }), ...(noWeb && { noWeb }) } : null);
    onClose();
  };
  const named = (all: readonly Choice[]) => all.filter((c) => c.title.toLowerCase().includes(search.trim().toLowerCase()));
  const groups = [
    { name: words.library.sets, items: named(sets) },
    { name: words.library.documents, items: named(docs) },
  ].filter((g) => g.items.length > 0);
  return (
    <Dialog title={words.composer.chooseDocuments} onClose={onClose}>
      <p className="text-sm text-muted">{words.composer.scopeHelp}</p>
      <SearchField className="mt-3" label={words.library.searchDocuments} value={search} onChange={setSearch} />
      <div className="mt-3 max-h-[45dvh] overflow-y-auto rounded-lg border border-line p-1">
        {groups.length === 0 && <p className="px-2 py-1.5 text-sm text-muted">{words.library.noMatches}</p>}
        {groups.map((g) => (
          <fieldset key={g.name} className="min-w-0">
            <legend className="px-2 pt-1.5 text-xs font-medium text-muted">{g.name}</legend>
            {g.items.map((c) => (
              <label key={c.id} className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 text-sm pointer-coarse:py-3 hover:bg-sunken">
                <input type="checkbox" checked={ids.has(c.id)} disabled={!ids.has(c.id) && count >= MOST} onChange={() => toggle(c.id)} className="size-4 shrink-0 accent-accent" />
                <Middle text={c.title} />
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      {spaces.length > 0 && (
        <fieldset className="mt-3 max-h-[20dvh] min-w-0 overflow-y-auto rounded-lg border border-line p-1">
          <legend className="px-2 text-xs font-medium text-muted">{words.composer.alsoSpaces}</legend>
          {spaces.map((s) => (
            <label key={s.id} className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1.5 text-sm pointer-coarse:py-3 hover:bg-sunken">
              <input type="checkbox" checked={added.includes(s)} disabled={kept.includes(s.id)} onChange={() => toggle(s.id)} className="size-4 shrink-0 accent-accent" />
              <span dir="auto" className="min-w-0 truncate">
                {s.title}
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {(webSearch || noWeb) && (
        <label className="mt-3 flex cursor-pointer items-center gap-2.5 text-sm pointer-coarse:py-3">
          <input type="checkbox" checked={noWeb} onChange={() => setNoWeb(!noWeb)} className="size-4 shrink-0 accent-accent" />
          {words.composer.neverSearchWeb}
        </label>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button variant="plain" disabled={ids.size === 0} onClick={() => setIds(new Set())}>
          {words.composer.useAll}
        </Button>
        <Button variant="primary" onClick={save}>
          {words.common.save}
        </Button>
      </div>
    </Dialog>
  );
}
