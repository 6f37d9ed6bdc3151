import { FolderPlus, MessageCircleQuestion, type LucideIcon } from "lucide-react";
import { useEffect, useRef } from "react";
import { useConfig } from "../api/useConfig";
import { Composer } from "../composer/Composer";
import { moveScope } from "../composer/scope";
import type { ComposerHandle, Outgoing } from "../composer/types";
import { useLibrary } from "../documents/library";
import { newId } from "../lib/id";
import { useAside } from "../ui/Aside";
import { Middle } from "../ui/Middle";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { useIdeas } from "./ideas";
import { keepPending } from "./pending";
import type { Go } from "./useRoute";

const nothingRuns = () => {};

/** The start of a new conversation; its first message opens the conversation's page. */
export function Welcome({ onStart }: { onStart: Go }) {
  const library = useLibrary();
  const ideas = useIdeas(library.docs);
  const aside = useAside();
  const composer = useRef<ComposerHandle>(null);
  const pointer = useMedia("(pointer: fine)"); // on a phone, the keyboard would cover the page

  useEffect(() => {
    if (pointer) composer.current?.focus();
  }, [pointer]);

  const start = (out: Outgoing) => {
    const threadId = newId();
    keepPending(threadId, out);
    moveScope(threadId);
    onStart(threadId);
  };

  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-4 sm:px-6">
      <div className="mx-auto w-full max-w-2xl pt-[20vh] pb-6">
        <h1 className="text-center text-2xl font-semibold tracking-tight text-balance sm:text-[1.75rem]">{words.welcome.title}</h1>
        <p className="mx-auto mt-2 mb-7 max-w-md text-center text-balance text-muted">{words.welcome.intro}</p>
        <Composer ref={composer} threadId={null} busy={false} onSend={start} onStop={nothingRuns} />
        <ul aria-label={words.welcome.ideas} className="mt-4 flex flex-wrap justify-center gap-2">
          <li>
            <Way icon={FolderPlus} label={library.loaded && library.docs.length === 0 ? words.welcome.addFirst : words.welcome.add} onClick={() => aside.show("documents")} />
          </li>
          {ideas.map((idea) => (
            <li key={idea.label} className="max-w-full">
              <Way icon={MessageCircleQuestion} label={idea.label} note={idea.shared ? words.welcome.sample : ""} onClick={() => composer.current?.write(idea.doc)} />
            </li>
          ))}
        </ul>
        <NoModel />
      </div>
    </div>
  );
}

/** Says that without a model answers are only quotes, and how to connect one. */
function NoModel() {
  const { offline } = useConfig();
  if (!offline) return null;
  return (
    <details className="mx-auto mt-8 max-w-md rounded-xl bg-sunken px-4 py-2.5 text-sm">
      <summary className="cursor-pointer text-center text-muted pointer-coarse:py-2.5 hover:text-ink">
        {words.shell.offline}. <span className="font-medium text-accent underline">{words.welcome.connect}</span>
      </summary>
      <p className="mt-2">{words.shell.offlineHelp}</p>
    </details>
  );
}

function Way({ icon: Glyph, label, note = "", onClick }: { icon: LucideIcon; label: string; note?: string; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-label={[label, note].filter(Boolean).join(", ")}
      title={label}
      onClick={onClick}
      className="inline-flex h-9 max-w-full items-center gap-2 rounded-full pointer-coarse:h-11 border border-line bg-surface px-4 text-sm text-muted transition-colors hover:border-edge hover:text-ink"
    >
      <Glyph aria-hidden className="size-4 shrink-0 text-accent" />
      <Middle text={label} />
      {note && <span className="shrink-0 rounded-full bg-sunken px-2 py-0.5 text-xs">{note}</span>}
    </button>
  );
}
