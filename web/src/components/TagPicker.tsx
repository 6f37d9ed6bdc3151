import type { Tag } from "../lib/mention";
import { Icon } from "./Icon";

interface Props {
  id: string;
  tags: Tag[];
  active: number;
  empty: string;
  onPick: (t: Tag) => void;
}

export const optionId = (list: string, at: number): string => `${list}-${at}`;

/** The list under an "@": the composer keeps the focus and moves the active option. */
export function TagPicker({ id, tags, active, empty, onPick }: Props) {
  return (
    <div className="absolute bottom-full left-0 z-10 mb-2 w-full max-w-md overflow-hidden rounded-xl border border-line bg-surface shadow-lg">
      {tags.length === 0 && <p className="px-4 py-3 text-sm text-muted">{empty}</p>}
      <ul id={id} role="listbox" aria-label="Documents and sets" className="max-h-64 overflow-y-auto">
        {tags.map((t, i) => (
          <li
            key={t.kind + t.id}
            id={optionId(id, i)}
            role="option"
            aria-selected={i === active}
            className={`flex cursor-pointer items-center gap-2 px-4 py-2 ${i === active ? "bg-accent-soft" : "hover:bg-sunken"}`}
            onMouseDown={(e) => {
              e.preventDefault(); // the focus stays in the text
              onPick(t);
            }}
          >
            <Icon name={t.kind === "set" ? "set" : "doc"} className="size-4 text-muted" />
            <span className="truncate">{t.title}</span>
            {t.kind === "set" && <span className="ml-auto text-xs text-muted">set</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}
