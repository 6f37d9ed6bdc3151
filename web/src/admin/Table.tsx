import type { ReactNode } from "react";
import { adminWords } from "../words/admin";

export interface Column<T> {
  name: string;
  show: (row: T) => ReactNode;
  /** Whether the cells are numbers, which stand at the right. */
  numeric?: boolean;
}

/** A table of a section. It scrolls sideways on a narrow screen, also by the keyboard. */
export function Table<T>({ label, columns, rows, id }: { label: string; columns: Column<T>[]; rows: readonly T[]; id: (row: T) => string | number }) {
  if (rows.length === 0) return <p className="text-sm text-muted">{adminWords.none}</p>;
  return (
    <div role="region" aria-label={label} tabIndex={0} className="overflow-x-auto rounded-xl border border-line bg-surface">
      <table className="w-full text-left text-sm">
        <thead className="bg-sunken text-xs text-muted">
          <tr>
            {columns.map((c) => (
              <th key={c.name} scope="col" className={`px-3 py-2 font-medium whitespace-nowrap ${c.numeric ? "text-right" : ""}`}>
                {c.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={id(row)} className="border-t border-line align-top">
              {columns.map((c) => (
                <td key={c.name} dir="auto" className={`px-3 py-2 ${c.numeric ? "text-right tabular-nums" : "break-words"}`}>
                  {c.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
