import { ArrowLeft } from "lucide-react";
import type { DocRef } from "../api/types";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import Reader from "./Reader";
import { nameOf } from "./names";

/** Shows a document in the panel, instead of the list. */
export function Preview({ doc, onBack }: { doc: DocRef; onBack: () => void }) {
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 px-3 pb-2">
        <IconButton label={words.library.back} icon={ArrowLeft} onClick={onBack} autoFocus />
        <h3 dir="auto" className="min-w-0 truncate text-sm font-medium">{nameOf(doc)}</h3>
      </div>
      <Reader doc={doc} />
    </div>
  );
}
