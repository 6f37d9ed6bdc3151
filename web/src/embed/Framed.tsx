import { SquarePen, X } from "lucide-react";
import { Suspense, useCallback, useEffect, useRef, useState } from "react";
import { Composer } from "../composer/Composer";
import { focusMessage } from "../composer/focus";
import { beginChat, nextChat } from "../composer/newChat";
import { moveScope, setScope } from "../composer/scope";
import type { ComposerHandle, Outgoing } from "../composer/types";
import { InChat, useLibrary } from "../documents/library";
import { local } from "../lib/storage";
import { Conversation } from "../shell/App";
import { Boundary } from "../shell/Boundary";
import { keepPending } from "../shell/pending";
import { Asides, AsideSlot } from "../ui/Aside";
import { IconButton } from "../ui/Button";
import { composing } from "../ui/composing";
import { layerIsOpen } from "../ui/layer";
import { Toaster, ToastRoom } from "../ui/toast";
import { words } from "../words";
import type { Host } from "./host";
import type { Look } from "./look";
import type { Started } from "./start";

const nothingRuns = () => {};

/** The chat in a frame: one conversation, which this browser keeps for this site. */
export function Framed({ look, host, problem }: Started) {
  const [threadId, open] = useKeptThread(look);
  const title = look.title || words.embed.title;
  useEffect(() => void (document.title = title), [title]);
  useEffect(() => void (host.onFocus = focusMessage), [host]);
  useEscape(host);
  return (
    <InChat value={threadId ?? nextChat()}>
      <Asides>
        <div className="flex h-full">
          <main className="flex h-full min-w-0 flex-1 flex-col">
            <header className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-3">
              <h1 dir="auto" className="min-w-0 flex-1 truncate pl-1 text-sm font-semibold">{title}</h1>
              {threadId && <IconButton icon={SquarePen} label={words.shell.newChat} onClick={() => open(null)} />}
              <IconButton icon={X} label={words.common.close(title)} onClick={() => host.close()} />
            </header>
            <ToastRoom />
            <Boundary key={threadId}>
              {problem ? <Problem problem={problem} /> : threadId ? <Conversation threadId={threadId} onOpen={open} /> : <Beginning look={look} onStart={open} />}
            </Boundary>
          </main>
          <AsideSlot />
        </div>
        <Toaster />
      </Asides>
    </InChat>
  );
}

/** The conversation, which a reload opens again. */
function useKeptThread({ origin, agent }: Look): [string | null, (id: string | null) => void] {
  const key = `palaver.frame.${origin} ${agent ?? ""}`;
  const [threadId, set] = useState(() => local.read(key));
  const open = useCallback((id: string | null) => (local.write(key, id), set(id)), [key]);
  return [threadId, open];
}

/** What Escape ends before it closes the panel: an answer, a question, a list. */
const ESCAPES = "[data-composer][data-busy], [data-question], [role=listbox]";

/** Escape closes the panel when nothing else in it uses the key. */
function useEscape(host: Host) {
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !composing(e) && !layerIsOpen() && !document.querySelector(ESCAPES)) host.close();
    };
    addEventListener("keydown", onKey, true); // before the others act
    return () => removeEventListener("keydown", onKey, true);
  }, [host]);
}

function Beginning({ look, onStart }: { look: Look; onStart: (id: string) => void }) {
  const composer = useRef<ComposerHandle>(null);
  const title = useLibrary().sets.find((s) => s.id === look.set)?.name ?? "";
  useEffect(() => setScope(null, look.set ? { docs: [], sets: [{ id: look.set, title }] } : null), [look.set, title]);
  useEffect(() => composer.current?.focus(), []);
  const start = (out: Outgoing) => {
    const threadId = beginChat();
    keepPending(threadId, look.agent ? { ...out, agent: look.agent } : out);
    moveScope(threadId);
    onStart(threadId);
  };
  return (
    <Suspense>
      <div className="mt-auto px-4 pb-4">
        <p className="mb-4 text-center text-balance text-muted">{words.embed.intro}</p>
        <Composer ref={composer} threadId={null} busy={false} onSend={start} onStop={nothingRuns} />
      </div>
    </Suspense>
  );
}

function Problem({ problem }: { problem: NonNullable<Started["problem"]> }) {
  return (
    <div role="alert" className="m-auto px-6 text-center text-balance">
      <p>{problem === "cookies" ? words.embed.noCookies : words.embed.signIn}</p>
      <a href="/" target="_blank" rel="noreferrer" className="mt-3 inline-block font-medium text-accent underline">
        {words.embed.ownTab}
      </a>
    </div>
  );
}
