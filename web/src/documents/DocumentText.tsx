import { Fragment, useMemo, type ReactNode } from "react";
import { words } from "../words";
import { pieces } from "./finding";
import { blocksOf, isShortCell, type Span } from "./tables";

/** A line that looks like a Markdown heading. */
const HEADING = /^(#{1,6} .+)$/m;

interface Props {
  text: string;
  /** Ranges to mark, in order. */
  marks?: readonly Span[];
  /** The mark that stands out; its parts have data-current. */
  current?: number;
  /** Whether rows with a mark are marked, too, instead of the current mark. */
  markRows?: boolean;
  /** The header of the table within which the text begins. */
  header?: readonly string[];
}

const none: never[] = [];

/**
 * A document's text, or a part of it, with headings emphasized and tables drawn. The header of
 * a table stays in view. All else is shown as it is, since answers quote this text.
 */
export function DocumentText({ text, marks = none, current, markRows, header = none }: Props) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  const within = ({ start, end }: Span) => marks.flatMap((m, index) => (m.start < end && m.end > start ? [{ start: Math.max(m.start, start) - start, end: Math.min(m.end, end) - start, index }] : []));
  const marked = (span: Span) => {
    const inside = within(span);
    return pieces(text.slice(span.start, span.end), inside).map(({ text: piece, match }, key) => {
      const mark = match === undefined ? undefined : inside[match];
      return mark ? (
        <mark key={key} data-current={mark.index === current || undefined} aria-current={(!markRows && mark.index === current) || undefined} className="rounded-sm bg-mark box-decoration-clone py-0.5 text-inherit aria-[current]:outline-2 aria-[current]:outline-accent">
          {piece}
        </mark>
      ) : (
        <Fragment key={key}>{withHeadings(piece)}</Fragment>
      );
    });
  };
  return blocks.map((block, i) => {
    if (!block.rows) return <Fragment key={i}>{marked(block)}</Fragment>;
    const given = i === 0 && block.start === 0 ? header : none;
    return (
      <div key={i} role="group" aria-label={words.library.table} tabIndex={0} className="my-2 max-h-[75vh] w-fit max-w-full overflow-auto">
        <table className="border-separate border-spacing-0 border-t border-l border-line text-left">
          <thead>
            <tr>
              {given.length > 0 ? given.map((cell, k) => <HeadCell key={k}>{cell}</HeadCell>) : block.rows[0]!.map((cell, k) => <HeadCell key={k}>{marked(cell)}</HeadCell>)}
            </tr>
          </thead>
          <tbody>
            {block.rows.slice(given.length > 0 ? 0 : 1).map((row, k) => (
              <tr key={k} data-cited={(markRows && row.some((cell) => within(cell).length > 0)) || undefined} className="data-cited:bg-mark/40">
                {row.map((cell, c) => (
                  <td key={c} className={`border-r border-b border-line px-2 py-1 align-top ${isShortCell(cell.end - cell.start) ? "whitespace-nowrap" : ""}`}>
                    {marked(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    );
  });
}

function HeadCell({ children }: { children: ReactNode }) {
  return (
    <th scope="col" className="sticky top-0 border-r border-b border-line bg-sunken px-2 py-1 align-top font-semibold">
      {children}
    </th>
  );
}

const withHeadings = (text: string) =>
  text.split(HEADING).map((piece, i) =>
    i % 2 === 0 ? (
      piece
    ) : (
      <strong key={i} className="font-semibold">
        {piece.replace(/^#+ /, "")}
      </strong>
    ),
  );
