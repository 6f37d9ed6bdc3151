import { FileText, Files, FolderPlus, type LucideIcon } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Action, Doc } from "../api/types";
import { Composer } from "../composer/Composer";
import type { ComposerHandle, Outgoing } from "../composer/types";
import { useLibrary } from "../documents/library";
import { mostAlike } from "../lib/alike";
import { newId } from "../lib/id";
import { useAside } from "../ui/Aside";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { keepPending } from "./pending";
import type { Go } from "./useRoute";

interface Idea {
  icon: LucideIcon;
  action: Action;
  label: string;
  docs: Doc[];
}

/** Ways to begin with the documents that are there, a person's own first. */
function ideasFor(docs: readonly Doc[]): Idea[] {
  const ready = docs.filter((d) => d.status === "ready");
  const own = [...ready.filter((d) => !d.public), ...ready.filter((d) => d.public)];
  const pair = mostAlike(own, (d) => d.title);
  const ideas: Idea[] = [];
  if (own[0]) ideas.push({ icon: FileText, action: "summarize", label: words.welcome.summarize(own[0].title), docs: [own[0]] });
  if (pair) ideas.push({ icon: Files, action: "compare", label: words.welcome.compare(pair[0].title, pair[1].title), docs: pair });
  return ideas;
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
        <h1 className="text-center text-2xl font-semibold tracking-tight text-balance sm:text-[1.75rem]">{words.welcome.title}</h1>
        <p className="mx-auto mt-2 mb-7 max-w-md text-center text-balance text-muted">{words.welcome.intro}</p>
        <Composer ref={composer} threadId={null} busy={false} onSend={start} onStop={nobodyRuns} />
        <ul aria-label={words.welcome.ideas} className="mt-4 flex flex-wrap justify-center gap-2">
          <li>
            <Way icon={FolderPlus} label={library.loaded && library.docs.length === 0 ? words.welcome.addFirst : words.welcome.add} onClick={() => aside.show("documents")} />
          </li>
          {ideasFor(library.docs).map((idea) => (
            <li key={idea.action} className="max-w-full">
              <Way icon={idea.icon} label={idea.label} onClick={() => composer.current?.suggest(idea.action, idea.docs)} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Way({ icon: Glyph, label, onClick }: { icon: LucideIcon; label: string; onClick: () => void }) {
  return (
    <button
      type="button"
      title={label}
      onClick={onClick}
      className="inline-flex h-9 max-w-full items-center gap-2 rounded-full pointer-coarse:h-11 border border-line bg-surface px-4 text-sm text-muted transition-colors hover:border-edge hover:text-ink"
    >
      <Glyph aria-hidden className="size-4 shrink-0 text-accent" />
      <span className="truncate">{label}</span>
    </button>
  );
}
