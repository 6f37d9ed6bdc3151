import { use } from "react";
import type { DocRef } from "../api/types";
import { icons } from "../composer/icons";
import { piecesOf } from "../composer/incoming";
import type { Mention, Node } from "../composer/outgoing";
import { mentionLabel } from "../composer/labels";
import { Extras } from "./extras";

interface Props {
  doc: Node;
  /** Opens the text of a mentioned document. */
  onRead: (doc: DocRef) => void;
}

/** Shows a user's text with its mentions as pills. */
export const Written = ({ doc, onRead }: Props) => piecesOf(doc).map((p, i) => (typeof p === "string" ? p : <Pill key={i} mention={p} onRead={onRead} />));

const look = "rounded-md bg-surface box-decoration-clone px-1.5 py-0.5 font-medium text-accent";

function Pill({ mention, onRead }: { mention: Mention; onRead: Props["onRead"] }) {
  const { category, id, label } = mention;
  const extras = use(Extras);
  if (category === "item" && extras) return <extras.Reference id={id} />;
  const Glyph = icons[category];
  const face = (
    <>
      <Glyph aria-hidden className="me-1 inline size-3.5 align-[-0.125em]" />
      {mentionLabel(mention)}
    </>
  );
  if (category !== "document") {
    return (
      <span dir="auto" data-mention={category} className={look}>
        {face}
      </span>
    );
  }
  return (
    <button type="button" dir="auto" data-mention={category} className={`${look} text-start hover:underline`} onClick={() => onRead({ id, title: label })}>
      {face}
    </button>
  );
}
