import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** From this number on, the files of a batch are one row that can be expanded. */
const MANY = 5;

interface Props<T> {
  items: readonly T[];
  /** The text of the row for n files. */
  label: (n: number) => string;
  /** Renders a file as a list item. */
  row: (item: T) => ReactNode;
  look: string;
}

/** Lists files that are being uploaded, or that failed: one row per file, or one row for many files. */
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
