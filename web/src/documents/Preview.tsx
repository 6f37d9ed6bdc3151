import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { wordsOf } from "../api/query";
import { Button, IconButton } from "../ui/Button";
import { DocumentText } from "./DocumentText";
import { useDocumentText } from "./text";

const STEP = 60_000; // UTF-16 units; the rest on request, so that a very long text opens at once

/** The text of a document as answers quote it. */
export function Preview({ doc, onBack }: { doc: { id: string; title: string }; onBack: () => void }) {
  const [shown, setShown] = useState(STEP);
  const text = useDocumentText(doc.id);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-1 px-3 pb-2">
        <IconButton label="Back to all documents" icon={ArrowLeft} onClick={onBack} autoFocus />
        <h3 className="min-w-0 truncate text-sm font-medium">{doc.title}</h3>
      </div>
      <div role="region" aria-label={`Text of ${doc.title}`} tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-5 pb-6 text-sm leading-relaxed whitespace-pre-wrap">
        {text.isPending && <p className="text-muted">Opening the document…</p>}
        {text.isError && <p className="text-bad">{wordsOf(text.error)}</p>}
        {text.data && <DocumentText text={text.data.slice(0, shown)} />}
        {text.data && text.data.length > shown && (
          <p className="pt-4 text-center">
            <Button onClick={() => setShown(shown + STEP)}>Show more</Button>
          </p>
        )}
      </div>
    </div>
  );
}
