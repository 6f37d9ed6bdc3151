import { Tabs } from "@base-ui/react/tabs";
import { ListFilter, LoaderCircle } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { errorText } from "../api/query";
import { useSpaceId } from "../api/space";
import type { Doc, DocRef, DocSet } from "../api/types";
import { titleOf, useOpenImports, type Import } from "../imports/imports";
import { addedSources } from "../imports/links";
import { useConversation } from "../shell/conversations";
import { saveProfile, useMe } from "../shell/me";
import { useContributes, useSpaces } from "../spaces/spaces";
import { Button } from "../ui/Button";
import { SearchField } from "../ui/SearchField";
import { toast } from "../ui/toast";
import { words } from "../words";
import { DocumentRow } from "./DocumentRow";
import { useKnown } from "./known";
import { refreshLibrary, useLibrary } from "./library";
import type { Embedding } from "./polling";
import { Preview } from "./Preview";
import { SetsTab } from "./SetsTab";
import { UploadBox } from "./UploadBox";
import { nameOf } from "./names";

const tab = "h-8 rounded-md px-3 text-sm font-medium text-muted transition-colors pointer-coarse:h-11 hover:text-ink data-active:bg-surface data-active:text-ink data-active:shadow-soft";

/** The panel of documents and sets. */
export function DocumentsPanel({ threadId }: { threadId: string | null }) {
  const library = useLibrary();
  const known = useKnown(threadId, useConversation(threadId) !== null);
  const space = useSpaceId();
  const contributes = useContributes();
  const open = useOpenImports(space === "");
  const [opened, setOpened] = useState<DocRef | null>(null);
  if (opened) return <Preview doc={opened} onBack={() => setOpened(null)} />;
  return (
    <Tabs.Root defaultValue="documents" className="flex min-h-0 flex-1 flex-col">
      <Tabs.List className="mx-5 flex shrink-0 gap-1 self-start rounded-lg bg-sunken p-1">
        <Tabs.Tab value="documents" className={tab}>
          {words.library.documents}
        </Tabs.Tab>
        <Tabs.Tab value="sets" className={tab}>
          {words.library.sets}
        </Tabs.Tab>
      </Tabs.List>
      <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-4 pb-6">
        {library.error && (
          <div role="alert" className="mb-4 space-y-2 text-sm">
            <p className="text-bad">{errorText(library.error)}</p>
            <Button onClick={library.retry}>{words.common.tryAgain}</Button>
          </div>
        )}
        <Tabs.Panel value="documents" tabIndex={-1}>
          {contributes && <UploadBox />}
          {open.length > 0 && <Importing items={open} />}
          {library.embedding && <EmbeddingProgress {...library.embedding} />}
          {known.length > 0 && <Known known={known} onOpen={setOpened} />}
          <Documents docs={library.docs} sets={library.sets} loaded={library.loaded} onOpen={setOpened} />
          {space === "" && <SharedSwitch shown={library.docs.some((d) => d.public)} />}
        </Tabs.Panel>
        <Tabs.Panel value="sets" tabIndex={-1}>
          <SetsTab docs={library.docs.filter((d) => !d.conversation_id)} sets={library.sets} />
        </Tabs.Panel>
      </div>
    </Tabs.Root>
  );
}

const heading = "mt-6 mb-1 text-xs font-medium text-muted";

interface Openable {
  onOpen: (doc: DocRef) => void;
}

function Known({ known, onOpen }: Openable & { known: DocRef[] }) {
  return (
    <section aria-label={words.library.inThisChat}>
      <h3 className={heading}>{words.library.inThisChat}</h3>
      <ul className="flex flex-wrap gap-1.5 pt-1">
        {known.map((d) => (
          <li key={d.id} className="max-w-full">
            <button type="button" dir="auto" className="max-w-full truncate rounded-full bg-accent-soft px-3 py-1 text-sm text-accent hover:underline pointer-coarse:py-3" onClick={() => onOpen(d)}>
              {nameOf(d)}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows how many documents have vectors, while some have none. */
function EmbeddingProgress({ done, total }: Embedding) {
  return (
    <div className="mt-6 text-xs text-muted">
      <p role="status">{words.library.byMeaning(done, total)}</p>
      <progress aria-label={words.library.byMeaningLabel} value={done} max={total} className="mt-1 h-1.5 w-full accent-accent" />
    </div>
  );
}

/** Lists the running imports. */
function Importing({ items }: { items: readonly Import[] }) {
  return (
    <section aria-label={words.imports.inProgress}>
      <h3 className={heading}>{words.imports.inProgress}</h3>
      <ul className="space-y-2 pt-1 text-sm">
        {items.map((i) => (
          <li key={i.id} className="flex items-start gap-3">
            <LoaderCircle aria-hidden className="mt-0.5 size-4 shrink-0 animate-spin text-accent motion-reduce:animate-none" />
            <span className="min-w-0">
              <span dir="auto" className="block truncate font-medium">
                {titleOf(i)}
              </span>
              <span role="status" className="block text-xs text-muted">
                {words.imports.states[i.state === "ready" ? "indexing" : i.state]}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Hides the documents that are shared with everyone, or shows them again. */
function SharedSwitch({ shown }: { shown: boolean }) {
  const me = useMe();
  if (!me || (!shown && !me.hide_samples)) return null;
  const toggle = async () => {
    try {
      await saveProfile(me, { hide_samples: !me.hide_samples });
      await refreshLibrary();
    } catch (err) {
      toast(errorText(err));
    }
  };
  return (
    <Button variant="plain" className="mt-4" onClick={() => void toggle()}>
      {me.hide_samples ? words.library.showShared : words.library.hideShared}
    </Button>
  );
}

/** A list of up to this many documents has no search field. */
const MAX_WITHOUT_SEARCH = 12;

const all = () => true;

/** Filters for the library: the origins that its documents have, and the sets. */
export function filtersOf(docs: readonly Doc[], sets: readonly DocSet[]): { id: string; label: string; keeps: (d: Doc) => boolean }[] {
  const { library } = words;
  const origins = [
    { id: "uploads", label: library.uploaded, keeps: (d: Doc) => !d.public && d.source_type === "upload" },
    ...[...Object.entries(library.origins), ...addedSources().map((s) => [s.type, s.label] as const)].map(([id, label]) => ({ id, label, keeps: (d: Doc) => !d.public && d.source_type === id })),
    { id: "shared", label: library.shared, keeps: (d: Doc) => d.public },
  ].filter((o) => docs.some(o.keeps));
  return [...origins, ...sets.map((s) => ({ id: `set ${s.id}`, label: library.set(s.name), keeps: (d: Doc) => s.doc_ids.includes(d.id) }))];
}

function Documents({ docs, sets, loaded, onOpen }: Openable & { docs: Doc[]; sets: DocSet[]; loaded: boolean }) {
  const [search, setSearch] = useState("");
  const [filter, setFilter] = useState("");
  const filters = filtersOf(docs, sets);
  const kept = filters.find((f) => f.id === filter)?.keeps ?? all;
  const searchable = docs.length > MAX_WITHOUT_SEARCH;
  const wanted = useDeferredValue(search);
  const parts = searchable ? wanted.normalize("NFC").toLowerCase().split(/\s+/).filter(Boolean) : [];
  const found = docs.filter((d) => kept(d) && parts.every((w) => `${nameOf(d)} ${d.name ?? ""} ${(d.other_names ?? []).join(" ")}`.normalize("NFC").toLowerCase().includes(w)));
  const ofChat = found.filter((d) => d.conversation_id);
  const own = found.filter((d) => !d.public && !d.conversation_id);
  const shared = found.filter((d) => d.public);
  const space = useSpaceId();
  const contributes = useContributes();
  const me = useMe()?.id;
  const mine = (d: Doc) => !d.added_by || d.added_by === me; // in a space, a chat is read by others too
  const places = useSpaces()?.some((s) => !s.deleted_at && s.role !== "reader") ?? false;
  if (loaded && docs.length === 0) return <p className="mt-6 text-sm text-muted">{words.library.noDocuments}</p>;
  return (
    <>
      {searchable && <SearchField label={words.library.searchDocuments} value={search} onChange={setSearch} className="mt-6" />}
      {filters.length > 1 && (
        <label className="mt-4 flex items-center gap-2 text-sm text-muted">
          <ListFilter aria-hidden className="size-4 shrink-0" />
          <select aria-label={words.library.show} value={filter} onChange={(e) => setFilter(e.target.value)} className="h-9 min-w-0 flex-1 rounded-lg border border-edge bg-surface px-2 text-ink pointer-coarse:h-11">
            <option value="">{words.library.allDocuments}</option>
            {filters.map((f) => (
              <option key={f.id} value={f.id}>
                {f.label}
              </option>
            ))}
          </select>
        </label>
      )}
      {loaded && found.length === 0 && <p className="mt-4 text-sm text-muted">{words.library.noMatches}</p>}
      {[
        { name: words.composer.inChat, items: ofChat },
        { name: space === "" ? words.library.yours : words.spaces.documentsOf, items: own },
        { name: words.library.shared, items: shared },
      ]
        .filter((g) => g.items.length > 0)
        .map((g) => (
          <section key={g.name} aria-label={g.name}>
            <h3 className={heading}>{g.name}</h3>
            <ul aria-label={words.library.list(g.name)} className="-mx-2">
              {g.items.map((d) => (
                <DocumentRow
                  key={d.id}
                  doc={d}
                  changes={d.conversation_id ? mine(d) : contributes}
                  moves={contributes && (d.conversation_id ? mine(d) && (space === "" || d.status === "ready") : space !== "" || places)}
                  onOpen={onOpen}
                />
              ))}
            </ul>
          </section>
        ))}
    </>
  );
}
