import { FolderPlus, MessageCircleDashed, MessageCircleQuestion, type LucideIcon } from "lucide-react";
import { Suspense, useEffect, useRef, useState } from "react";
import { useConfig } from "../api/useConfig";
import { Composer } from "../composer/Composer";
import { messageContent } from "../composer/outgoing";
import { beginChat } from "../composer/newChat";
import { moveScope } from "../composer/scope";
import type { ComposerHandle, Outgoing } from "../composer/types";
import { useLibrary } from "../documents/library";
import { newId } from "../lib/id";
import { useContributes, useSpace } from "../spaces/spaces";
import { lazy } from "../ui/lazy";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { useIdeas } from "./ideas";
import { keepPending } from "./pending";
import { keepTemporary } from "./temporary";
import type { Go } from "./useRoute";

const SpaceIntro = lazy(() => import("../spaces/SpaceIntro"));

const nothingRuns = () => {};

/** The start of a new conversation; its first message opens the conversation's page. */
export function Welcome({ onStart }: { onStart: Go }) {
  const library = useLibrary();
  const ideas = useIdeas(library.docs);
  const composer = useRef<ComposerHandle>(null);
  const pointer = useMedia("(pointer: fine)"); // on a phone, the keyboard would cover the page

  useEffect(() => {
    if (pointer) composer.current?.focus();
  }, [pointer]);

  const space = useSpace();
  const contributes = useContributes();
  const empty = space !== undefined && library.loaded && !library.docs.some((d) => d.space_id);
  const [temporary, setTemporary] = useState(false);
  const start = (out: Outgoing, threadId = beginChat()) => {
    keepPending(threadId, temporary ? { ...out, temporary } : out);
    if (temporary) keepTemporary(threadId);
    moveScope(threadId);
    onStart(threadId);
  };

  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-4 sm:px-6">
      <div className={`mx-auto w-full max-w-2xl pb-6 ${empty ? "pt-[10vh]" : "pt-[20vh]"}`}>
        <h1 className="text-center text-2xl font-semibold tracking-tight text-balance sm:text-[1.75rem]" dir="auto">{!space ? words.welcome.title : empty ? words.spaces.empty(space.name) : words.spaces.welcome(space.name)}</h1>
        <p className="mx-auto mt-2 mb-7 max-w-md text-center text-balance text-muted">{!space ? words.welcome.intro : empty ? words.spaces.emptyIntro : words.spaces.intro}</p>
        {empty && (
          <Suspense fallback={null}>
            <SpaceIntro space={space} onAdd={() => composer.current?.pickFiles()} />
          </Suspense>
        )}
        <Composer ref={composer} threadId={null} busy={false} onSend={(out) => start(out)} onStop={nothingRuns} />
        {/* Hidden while an open list covers it partly. */}
        <div className="[:has([data-mentions=below])+&]:invisible">
          {!space && <p className="mt-2 flex min-h-9 flex-wrap items-center justify-center gap-x-2 text-sm text-muted">
            <button
              type="button"
              aria-pressed={temporary}
              className="inline-flex h-9 items-center gap-2 rounded-lg px-3 font-medium transition-colors pointer-coarse:h-11 hover:bg-sunken hover:text-ink aria-pressed:bg-accent-soft aria-pressed:text-accent"
              onClick={() => {
                setTemporary(!temporary);
                if (pointer) composer.current?.focus();
              }}
            >
              <MessageCircleDashed aria-hidden className="size-4 shrink-0" /> {words.thread.temporary}
            </button>
            <span role="status" className="text-center text-balance">{temporary ? words.thread.temporaryHelp : ""}</span>
          </p>}
          <ul aria-label={words.welcome.ideas} className="mt-4 flex flex-wrap justify-center gap-2">
            {contributes && !empty && <li>
              <Way icon={FolderPlus} label={library.loaded && library.docs.length === 0 ? words.welcome.addFirst : words.welcome.add} onClick={() => composer.current?.pickFiles()} />
            </li>}
            {/* A suggestion begins a chat of its own: what is attached stays with the draft. */}
            {ideas.map((idea) => (
              <li key={idea.label} className="max-w-full">
                <Way icon={MessageCircleQuestion} label={idea.label} note={idea.shared ? words.welcome.sample : ""} onClick={() => start({ ...messageContent(idea.doc), attachments: [], onBusy: "enqueue" }, newId())} />
              </li>
            ))}
          </ul>
          <NoModel />
        </div>
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
      onClick={onClick}
      className="inline-flex min-h-9 max-w-full items-center gap-2 rounded-[1.125rem] py-1.5 text-left pointer-coarse:min-h-11 border border-line bg-surface px-4 text-sm text-muted transition-colors hover:border-edge hover:text-ink"
    >
      <Glyph aria-hidden className="size-4 shrink-0 text-accent" />
      <span dir="auto" className="min-w-0 break-words">
        {label}
      </span>
      {note && <span className="shrink-0 rounded-full bg-sunken px-2 py-0.5 text-xs">{note}</span>}
    </button>
  );
}
