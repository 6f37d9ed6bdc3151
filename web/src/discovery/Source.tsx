import { BookOpen, FileText } from "lucide-react";
import { Suspense, useCallback, useMemo, useState, type ReactNode } from "react";
import type { Citation, DocRef } from "../api/types";
import { Boundary } from "../shell/Boundary";
import { Aside, useAside } from "../ui/Aside";
import { lazy } from "../ui/lazy";
import { words } from "../words";
import { boardWords } from "../words/discovery";
import { short } from "../lib/format";
import type { Cited } from "./board";

const Reader = lazy(() => import("../documents/Reader"));
const READER = "board-reader";

/** Opens the source of an item: a passage of a document, or a whole document. */
export interface Sources {
  passage(cited: Cited): void;
  document(doc: DocRef): void;
}

/** Functions that open documents beside the board, and the panel that shows them. */
export function useSources(): { open: Sources; panels: ReactNode } {
  const { show } = useAside();
  const [read, setRead] = useState<{ doc: DocRef; citation?: Citation } | null>(null);
  const passage = useCallback(
    ({ document_id, title: given, chunk_id, quote, start, end }: Cited) => {
      const title = given || boardWords.item.document;
      setRead({ doc: { id: document_id, title }, citation: { n: 1, source: "document", doc_id: document_id, title, chunk_id, quote, ...(end > start && { start, end }) } });
      show(READER);
    },
    [show],
  );
  const document = useCallback(
    (doc: DocRef) => {
      setRead({ doc });
      show(READER);
    },
    [show],
  );
  const open = useMemo(() => ({ passage, document }), [passage, document]);
  const panels = read && (
    <Aside name={READER} title={read.doc.title}>
      <Boundary key={read.doc.id}>
        <Suspense fallback={<p className="px-5 py-3 text-sm text-muted">{words.library.opening}</p>}>
          <Reader doc={read.doc} citation={read.citation} />
        </Suspense>
      </Boundary>
    </Aside>
  );
  return { open, panels };
}

const button = "inline-flex max-w-full items-center gap-1 rounded-md border border-line px-1.5 py-0.5 text-xs text-muted pointer-coarse:px-2.5 pointer-coarse:py-2 hover:border-edge hover:text-ink";

/** A button that opens the passage that an item cites. */
export const CitedIn = ({ cited, tab, onOpen }: { cited: Cited; tab?: 0 | -1; onOpen: (cited: Cited) => void }) => (
  <button type="button" data-citation tabIndex={tab} title={`“${short(cited.quote, 200)}”`} aria-label={boardWords.item.citedIn(cited.title)} onClick={() => onOpen(cited)} className={button}>
    <BookOpen aria-hidden className="size-3.5 shrink-0" />
    <span dir="auto" className="truncate">
      {cited.title || boardWords.item.document}
    </span>
  </button>
);

/** A button that opens the document that an input was made from. */
export const DocumentOf = ({ doc, tab, onOpen }: { doc: DocRef; tab?: 0 | -1; onOpen: (doc: DocRef) => void }) => (
  <button type="button" data-document tabIndex={tab} aria-label={boardWords.item.readDocument(doc.title)} title={boardWords.item.readDocument(doc.title)} onClick={() => onOpen(doc)} className={button}>
    <FileText aria-hidden className="size-3.5 shrink-0" />
    {boardWords.item.document}
  </button>
);
