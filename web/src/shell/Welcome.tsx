import { FileText, Files, FolderPlus, type LucideIcon } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Doc } from "../api/types";
import { Composer } from "../composer/Composer";
import type { ComposerHandle, Outgoing } from "../composer/types";
import { useLibrary } from "../documents/library";
import { mostAlike } from "../lib/alike";
import { newId } from "../lib/id";
import { useAside } from "../ui/Aside";
import { useMedia } from "../ui/useMedia";
import { keepPending } from "./pending";
import type { Go } from "./useRoute";

interface Idea {
  icon: LucideIcon;
  verb: string;
  docs: Doc[];
}

/** Ways to begin with the documents that are there, a person's own first. */
function ideasFor(docs: readonly Doc[]): Idea[] {
  const ready = docs.filter((d) => d.status === "ready");
  const own = [...ready.filter((d) => !d.public), ...ready.filter((d) => d.public)];
  const pair = mostAlike(own, (d) => d.title);
  return [...(own[0] ? [{ icon: FileText, verb: "Summarize", docs: [own[0]] }] : []), ...(pair ? [{ icon: Files, verb: "Compare", docs: pair }] : [])];
}

const nobodyRuns = () => {};

/** Where a conversation begins: its first message goes to its own page. */
export function Welcome({ onStart }: { onStart: Go }) {
  const library = useLibrary();
  const aside = useAside();
  const composer = useRef<ComposerHandle>(null);
  const pointer = useMedia("(pointer: fine)"); // on a phone the keyboard would cover the page

  useEffect(() => {
    if (pointer) composer.current?.focus();
  }, [pointer]);

  const start = (out: Outgoing) => {
    const threadId = newId();
    keepPending(threadId, out);
    onStart(threadId);
  };

  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-4 sm:px-6">
      <div className="mx-auto w-full max-w-2xl pt-[20vh] pb-6">
        <h1 className="text-center text-2xl font-semibold tracking-tight text-balance sm:text-[1.75rem]">Ask your documents</h1>
        <p className="mx-auto mt-2 mb-7 max-w-md text-center text-balance text-muted">Ask in plain words. Every claim in the answer opens at the passage it comes from.</p>
        <Composer ref={composer} threadId={null} busy={false} onSend={start} onStop={nobodyRuns} />
        <ul aria-label="Ways to begin" className="mt-4 flex flex-wrap justify-center gap-2">
          <li>
            <Way icon={FolderPlus} words={library.loaded && library.docs.length === 0 ? "Add your first document" : "Add a document"} onClick={() => aside.show("documents")} />
          </li>
          {ideasFor(library.docs).map((idea) => (
            <li key={idea.verb} className="max-w-full">
              <Way icon={idea.icon} words={`${idea.verb} ${idea.docs.map((d) => d.title).join(" and ")}`} onClick={() => composer.current?.suggest(idea.verb, idea.docs)} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Way({ icon: Glyph, words, onClick }: { icon: LucideIcon; words: string; onClick: () => void }) {
  return (
    <button
      type="button"
      title={words}
      onClick={onClick}
      className="inline-flex h-9 max-w-full items-center gap-2 rounded-full pointer-coarse:h-11 border border-line bg-surface px-4 text-sm text-muted transition-colors hover:border-edge hover:text-ink"
    >
      <Glyph aria-hidden className="size-4 shrink-0 text-accent" />
      <span className="truncate">{words}</span>
    </button>
  );
}
