import { useState } from "react";
import { errorText } from "../api/query";
import type { DocRef } from "../api/types";
import { Button } from "../ui/Button";
import { words } from "../words";
import { DocumentText } from "./DocumentText";
import { useDocumentText } from "./text";

const STEP = 60_000; // UTF-16 units; the rest on request, so that a very long text opens at once

/** The text of a document as answers quote it. */
export default function Reader({ doc }: { doc: DocRef }) {
  const [shown, setShown] = useState(STEP);
  const { text, error, isPaused, deleted } = useDocumentText(doc.id);
  const there = text !== undefined && !deleted;
  return (
    <div role="region" aria-label={words.library.textOf(doc.title)} dir="auto" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-5 pb-6 text-sm leading-relaxed whitespace-pre-wrap">
      {there ? <DocumentText text={text.slice(0, shown)} /> : <p className="text-muted">{why(deleted, error, isPaused)}</p>}
      {there && text.length > shown && (
        <p className="pt-4 text-center">
          <Button onClick={() => setShown(shown + STEP)}>{words.common.showMore}</Button>
        </p>
      )}
    </div>
  );
}

/** Why there is no text yet, or none to come. */
function why(deleted: boolean, error: Error | null, isPaused: boolean): string {
  if (deleted) return words.library.deletedDocument;
  if (error) return errorText(error);
  return isPaused ? words.library.unreadable : words.library.opening;
}
