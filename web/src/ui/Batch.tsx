import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** From this many on, the files of a batch are one row, which can be opened. */
const MANY = 5;

interface Props<T> {
  items: readonly T[];
  /** What the row says in place of them. */
  label: (n: number) => string;
  /** Its rows, which are list items. */
  row: (item: T) => ReactNode;
  look: string;
}

/** Files that are being uploaded, or that failed: each in a row, many in one. */
export function Batch<T>({ items, label, row, look }: Props<T>) {
  if (items.length < MANY) return items.map(row);
  return (
    <li className={`min-w-0 rounded-lg text-sm ${look}`}>
      <details className="group/batch">
        <summary className="flex cursor-pointer list-none items-center gap-2.5 px-2.5 py-2 pointer-coarse:min-h-11">
          <ChevronRight aria-hidden className="size-4 shrink-0 transition-transform group-open/batch:rotate-90" />
          {label(items.length)}
        </summary>
        <ul className="max-h-56 space-y-1 overflow-y-auto px-1 pb-1">{items.map(row)}</ul>
      </details>
    </li>
  );
}
