import { blocksOf, cellsOf, isShortCell } from "../documents/tables";
import { words } from "../words";

const BAR = " | ";

/** The header of a table with which the heading of a passage ends ("Fees: Ship | Fee"); none if a row has another number of cells. */
export function headerIn(heading: string, cells: number): string[] {
  const bar = heading.indexOf(BAR);
  if (bar < 0) return [];
  const colon = heading.lastIndexOf(": ", bar);
  const header = heading.slice(colon < 0 ? 0 : colon + 2).split(BAR);
  return header.length === cells ? header.map((c) => c.trim()) : [];
}

/** The words of a quote; rows of a table are drawn as one, with their header if the heading above the passage has it. */
export function QuotedText({ quote, heading = "" }: { quote: string; heading?: string }) {
  const rows = rowsOf(quote);
  if (rows.length === 0) return words.message.quoted(quote);
  const header = headerIn(heading, rows[0]!.length);
  return (
    <div className="max-w-full overflow-x-auto">
      <table className="border-collapse text-left text-[0.8125rem]">
        {header.length > 0 && (
          <thead>
            <tr>
              {header.map((cell, i) => (
                <th key={i} scope="col" className="border border-line bg-sunken px-1.5 py-0.5 align-top font-semibold">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, k) => (
                <td key={k} className={`border border-line px-1.5 py-0.5 align-top ${isShortCell(cell.length) ? "whitespace-nowrap" : ""}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The rows of a quote that has nothing but rows of a table; none for other quotes. */
export function rowsOf(quote: string): string[][] {
  const text = quote.trim();
  if (!text.includes("\n")) return text.includes(BAR) ? [cellsOf(text, { start: 0, end: text.length }).map((c) => text.slice(c.start, c.end))] : [];
  const blocks = blocksOf(text);
  return blocks.length === 1 ? (blocks[0]!.rows ?? []).map((row) => row.map((c) => text.slice(c.start, c.end))) : [];
}
