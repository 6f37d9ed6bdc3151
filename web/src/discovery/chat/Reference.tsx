import { use } from "react";
import { boardWords } from "../../words/discovery";
import { short } from "../../lib/format";
import { ShownBoard } from "../context";

/** The id of an item as a button that scrolls to it; plain text if the board has no such item. */
export function Reference({ id }: { id: string }) {
  const shown = use(ShownBoard);
  const item = shown?.graph.find(id);
  if (!item) return id;
  return (
    <button
      type="button"
      data-reference={id}
      aria-label={boardWords.chat.reference(id)}
      title={short(item.title || item.text, 80)}
      onClick={() => shown!.reveal(id)}
      className="relative inline-flex items-center rounded-md bg-accent-soft px-1.5 align-baseline text-[0.9em] leading-snug font-semibold text-accent tabular-nums pointer-coarse:after:absolute pointer-coarse:after:-inset-x-1 pointer-coarse:after:-inset-y-2.5 hover:bg-accent hover:text-accent-ink"
    >
      {id}
    </button>
  );
}
