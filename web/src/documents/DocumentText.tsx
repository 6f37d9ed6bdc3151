/** A line that begins as a heading of Markdown does. */
const HEADING = /^(#{1,6} .+)$/m;

/**
 * The text of a document, or a stretch of it, in which headings stand out. It
 * stays the text that answers quote: nothing else is read into it.
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
