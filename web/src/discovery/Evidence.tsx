import { boardWords } from "../words/discovery";
import type { Cited } from "./board";
import { CitedIn } from "./Source";

/** Shows the quote that an item is based on, and a button that opens its passage. */
export const Evidence = ({ cited, onOpen }: { cited: Cited; onOpen: (cited: Cited) => void }) => (
  <figure data-evidence className="text-xs text-muted">
    <figcaption className="flex flex-wrap items-center gap-1">
      {boardWords.item.evidence} <CitedIn cited={cited} onOpen={onOpen} />
    </figcaption>
    <blockquote dir="auto" tabIndex={0} className="mt-1 max-h-32 overflow-y-auto border-l-2 border-edge pl-2 whitespace-pre-line">
      {cited.quote}
    </blockquote>
  </figure>
);
