import { useId, useState } from "react";
import { SearchField } from "../ui/SearchField";
import { boardWords } from "../words/discovery";
import { short } from "../lib/format";
import type { Item } from "./board";

interface Props {
  legend: string;
  /** The items that can be chosen. */
  items: readonly Item[];
  /** The ids of the chosen items. */
  value: readonly string[];
  onChange: (ids: string[]) => void;
}

const SEARCHED_FROM = 8;

/** A field to choose the items that an item builds on. */
export function Relations({ legend, items, value, onChange }: Props) {
  const id = useId();
  const [search, setSearch] = useState("");
  const q = search.trim().toLowerCase();
  const shown = q ? items.filter((i) => `${i.id} ${i.title} ${i.text}`.toLowerCase().includes(q)) : items;
  const toggle = (item: string) => onChange(value.includes(item) ? value.filter((v) => v !== item) : [...value, item]);
  return (
    <fieldset className="min-w-0 text-sm">
      <legend className="mb-1 font-medium">{legend}</legend>
      {items.length > SEARCHED_FROM && <SearchField label={`${boardWords.form.findRelation}: ${legend}`} value={search} onChange={setSearch} className="mb-2" />}
      {items.length === 0 ? (
        <p className="text-muted">{boardWords.form.noRelations}</p>
      ) : (
        <div className="max-h-44 overflow-y-auto rounded-lg border border-line p-1">
          {shown.map((item) => (
            <label key={item.id} htmlFor={`${id}-${item.id}`} className="flex cursor-pointer items-center gap-2.5 rounded-md px-2 py-1 pointer-coarse:py-2.5 hover:bg-sunken">
              <input id={`${id}-${item.id}`} type="checkbox" checked={value.includes(item.id)} onChange={() => toggle(item.id)} className="size-4 shrink-0 accent-accent" />
              <span className="font-medium tabular-nums">{item.id}</span>
              <span dir="auto" className="min-w-0 truncate">
                {short(item.title || item.text, 120)}
              </span>
            </label>
          ))}
        </div>
      )}
    </fieldset>
  );
}
