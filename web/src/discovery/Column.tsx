import { Plus } from "lucide-react";
import { memo } from "react";
import { IconButton } from "../ui/Button";

import { boardWords } from "../words/discovery";
import { number } from "../words/intl";
import type { Graph, Item, Kind } from "./board";
import { columnIcons } from "./icons";
import { ItemCard, type Act } from "./ItemCard";
import type { Trace } from "./trace";

interface Props {
  kind: Kind;
  /** The items that the search and the filter leave. */
  items: Item[];
  /** The number of all items of this kind. */
  all: number;
  graph: Graph;
  trace: Trace;
  /** The id of the item that Tab focuses; empty if it is in another column. */
  current: string;
  act: Act;
  /** Absent for somebody who only reads. */
  onAdd: ((kind: Kind) => void) | undefined;
}

export const Column = memo(function Column({ kind, items, all, graph, trace, current, act, onAdd }: Props) {
  const name = boardWords.columns[kind];
  const Glyph = columnIcons[kind];
  return (
    <section aria-label={boardWords.board.columnOf(name, all)} className="@container flex min-h-0 min-w-0 snap-start flex-col rounded-2xl bg-sunken/60">
      <header className="flex shrink-0 items-center gap-1 py-1.5 pr-0.5 pl-2.5 @min-[14rem]:gap-2 @min-[14rem]:pl-3.5">
        <Glyph aria-hidden className="hidden size-4 shrink-0 text-accent @min-[14rem]:block" />
        <h3 className="min-w-0 truncate text-[0.8125rem] font-semibold tracking-tight">{name}</h3>
        <span className="text-xs text-muted tabular-nums">{items.length === all ? number(all) : boardWords.board.shown(items.length, all)}</span>
        {onAdd && <IconButton size="small" className="ml-auto" label={boardWords.board.add[kind]} icon={Plus} onClick={() => onAdd(kind)} />}
      </header>
      {items.length === 0 ? (
        <p className="px-3.5 pb-4 text-sm text-muted">{all > 0 ? boardWords.board.noneShown : boardWords.board.empty[kind]}</p>
      ) : (
        <ul className="min-h-0 flex-1 overflow-y-auto overscroll-y-contain px-1.5 pb-24">
          {items.map((item) => (
            <ItemCard key={item.id} item={item} uses={graph.uses(item.id)} trace={trace} current={item.id === current} changes={onAdd !== undefined} act={act} />
          ))}
        </ul>
      )}
    </section>
  );
});
