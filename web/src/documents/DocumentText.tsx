/** A line that looks like a Markdown heading. */
const HEADING = /^(#{1,6} .+)$/m;

/**
 * A document's text, or a part of it, with headings emphasized. All else is shown
 * as it is, since answers quote this text.
 */
export function DocumentText({ text }: { text: string }) {
  return text.split(HEADING).map((piece, i) =>
    i % 2 === 0 ? (
      piece
    ) : (
      <strong key={i} className="font-semibold">
        {piece.replace(/^#+ /, "")}
      </strong>
    ),
  );
}
