import { icons } from "../composer/icons";
import { piecesOf } from "../composer/incoming";
import type { Mention, Node } from "../composer/outgoing";

/** What a person wrote, with what was mentioned in it as pills. */
export const Written = ({ doc }: { doc: Node }) => piecesOf(doc).map((p, i) => (typeof p === "string" ? p : <Pill key={i} mention={p} />));

function Pill({ mention }: { mention: Mention }) {
  const Glyph = icons[mention.category];
  return (
    <span data-mention={mention.category} className="rounded-md bg-surface box-decoration-clone px-1.5 py-0.5 font-medium text-accent">
      <Glyph aria-hidden className="mr-1 inline size-3.5 align-[-0.125em]" />
      {mention.label}
    </span>
  );
}
