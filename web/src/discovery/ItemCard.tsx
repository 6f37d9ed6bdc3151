import { ArrowDownRight, ArrowUpLeft, AtSign, Check, Clock, History, MoreHorizontal, Pencil, Trash2 } from "lucide-react";
import { memo, useCallback, useState, useSyncExternalStore } from "react";
import { IconButton } from "../ui/Button";
import { Menu, MenuItem } from "../ui/Menu";
import { boardWords } from "../words/discovery";
import { short } from "../lib/format";
import { since } from "../shell/groups";
import { usePeople } from "../spaces/people";
import type { Item } from "./board";
import { CitedIn, DocumentOf, type Sources } from "./Source";
import type { Role, Trace } from "./trace";

/** The actions on items. */
export interface Act {
  edit(item: Item): void;
  versions(item: Item): void;
  /** Absent on a board without a chat. */
  mention?: (id: string) => void;
  reveal(id: string): void;
  clear(id: string): void;
  remove(id: string): void;
  sources: Sources;
}

interface Props {
  item: Item;
  /** How many items build directly on this one. */
  uses: number;
  trace: Trace;
  /** Whether Tab focuses this card. */
  current: boolean;
  /** Whether the person may change it. */
  changes: boolean;
  act: Act;
}

const looks: Record<Role, string> = {
  self: "border-accent ring-1 ring-accent",
  up: "border-accent bg-accent-soft!",
  down: "border-accent border-dashed bg-accent-soft!",
};

export const ItemCard = memo(function ItemCard({ item, uses, trace, current, changes, act }: Props) {
  const { id, kind } = item;
  const role = useSyncExternalStore(trace.subscribe, useCallback(() => trace.roleOf(id), [trace, id]));
  const tab = current ? 0 : -1;
  const heading = kind === "output" ? (boardWords.outputTypes as Readonly<Record<string, string>>)[item.type] : item.title;
  return (
    <li className="board-item p-1">
      <article
        data-item={id}
        data-role={role}
        data-stale={item.stale || undefined}
        tabIndex={tab}
        aria-label={`${id}: ${short(item.title || item.text, 80)}`}
        className={`rounded-xl border bg-surface px-3 py-2 text-sm shadow-soft transition-colors ${role ? looks[role] : "border-line"}`}
      >
        <header className="flex min-h-8 items-center gap-1.5">
          <span className={`shrink-0 rounded-md px-1.5 text-xs font-semibold text-accent tabular-nums ${role ? "bg-surface" : "bg-accent-soft"}`}>{id}</span>
          {item.status && <span className="min-w-0 truncate rounded-md border border-line px-1.5 text-xs text-muted">{item.status}</span>}
          {role === "up" && <ArrowUpLeft role="img" aria-label={boardWords.item.upstream} className="size-4 shrink-0 text-accent" />}
          {role === "down" && <ArrowDownRight role="img" aria-label={boardWords.item.downstream} className="size-4 shrink-0 text-accent" />}
          {changes && <Options item={item} tab={tab} act={act} />}
        </header>
        {item.stale && <Stale item={item} tab={tab} changes={changes} act={act} />}
        {heading && (
          <p dir="auto" className="line-clamp-2 font-semibold">
            {heading}
          </p>
        )}
        <p dir="auto" className="line-clamp-6 whitespace-pre-line">
          {item.text}
        </p>
        {item.who && <ChangedBy who={item.who} at={item.at} />}
        {(item.related.length > 0 || uses > 0 || item.cited || item.documentId) && (
          <footer className="mt-1.5 flex flex-wrap items-center gap-1 text-xs text-muted">
            {item.related.map((up) => (
              <button key={up} type="button" tabIndex={tab} aria-label={boardWords.item.buildsOn(up)} title={boardWords.item.goTo(up)} onClick={() => act.reveal(up)} className="rounded-md border border-line px-1.5 py-0.5 text-muted tabular-nums pointer-coarse:px-2.5 pointer-coarse:py-2 hover:border-edge hover:text-ink">
                {up}
              </button>
            ))}
            {item.cited && <CitedIn cited={item.cited} tab={tab} onOpen={act.sources.passage} />}
            {item.documentId && <DocumentOf doc={{ id: item.documentId, title: item.title }} tab={tab} onOpen={act.sources.document} />}
            {uses > 0 && <span className="ml-auto">{boardWords.item.usedBy(uses)}</span>}
          </footer>
        )}
      </article>
    </li>
  );
});

interface PartProps {
  item: Item;
  tab: 0 | -1;
  act: Act;
}

/** Says who has written an item of a space's board. */
function ChangedBy({ who, at }: { who: string; at: string }) {
  const people = usePeople();
  return <p className="mt-1 text-xs text-muted">{boardWords.form.by(people(who), since(at))}</p>;
}

/** Says that an item may be out of date and why, with a button that marks it as up to date. */
function Stale({ item, tab, changes, act }: PartProps & { changes: boolean }) {
  const causes = item.staleBecause.filter((id) => id !== "import");
  return (
    <p className="mb-1.5 flex items-center gap-1.5 rounded-lg bg-warn-soft py-0.5 pr-0.5 pl-2 text-xs text-warn">
      <Clock aria-hidden className="size-3.5 shrink-0" />
      <span className="min-w-0 flex-1">{causes.length > 0 ? boardWords.item.staleBecause(causes.join(", ")) : boardWords.item.staleImported}</span>
      {changes && (
        <button type="button" tabIndex={tab} aria-label={`${boardWords.item.upToDate}: ${item.id}`} title={boardWords.item.upToDate} onClick={() => act.clear(item.id)} className="inline-flex size-7 shrink-0 items-center justify-center rounded-md pointer-coarse:size-11 hover:bg-surface">
          <Check aria-hidden className="size-4" />
        </button>
      )}
    </p>
  );
}

/** The menu of an item. It is rendered when it is first opened, because a board has hundreds of items. */
function Options({ item, tab, act }: PartProps) {
  const [opened, setOpened] = useState(false);
  const button = { size: "small", tabIndex: tab, label: boardWords.item.options(item.id), icon: MoreHorizontal, className: "-mr-1.5 ml-auto pointer-coarse:size-9!" } as const;
  if (!opened) return <IconButton {...button} aria-haspopup="menu" aria-expanded={false} onClick={() => setOpened(true)} />;
  return (
    <Menu trigger={<IconButton {...button} />} defaultOpen>
      <MenuItem icon={Pencil} onSelect={() => act.edit(item)}>
        {boardWords.item.edit}
      </MenuItem>
      {act.mention && (
        <MenuItem icon={AtSign} onSelect={() => act.mention?.(item.id)}>
          {boardWords.item.mention}
        </MenuItem>
      )}
      <MenuItem icon={History} onSelect={() => act.versions(item)}>
        {boardWords.item.versions}
      </MenuItem>
      {item.stale && (
        <MenuItem icon={Check} onSelect={() => act.clear(item.id)}>
          {boardWords.item.upToDate}
        </MenuItem>
      )}
      <MenuItem icon={Trash2} danger onSelect={() => act.remove(item.id)}>
        {boardWords.item.delete}
      </MenuItem>
    </Menu>
  );
}
