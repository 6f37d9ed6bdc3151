import { FolderOpen, PanelLeft, SquarePen } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { returnToDraft } from "../composer/drafts";
import { focusMessage } from "../composer/focus";
import type { Outgoing } from "../composer/types";
import { useLibrary } from "../documents/library";
import { Aside, Asides, AsideSlot, useAside } from "../ui/Aside";
import { IconButton } from "../ui/Button";
import { Drawer } from "../ui/Dialog";
import { Toaster } from "../ui/toast";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { sayConnected } from "../imports/accounts";
import { Boundary } from "./Boundary";
import { titleOf } from "./ConversationRow";
import { refreshConversations, useConversation } from "./conversations";
import { LimitNotice } from "./LimitNotice";
import { refreshMe } from "./me";
import { dropPending, pendingOf } from "./pending";
import { useShortcuts } from "./shortcuts";
import { Sidebar } from "./Sidebar";
import { useRoute, type Go } from "./useRoute";
import { Welcome } from "./Welcome";

// Drawn when they are needed: the composer of the welcome page is not kept waiting for them.
type ThreadComponent = typeof import("../thread/Thread").Thread;
let readyThread: ThreadComponent | undefined;
const readThread = async () => {
  const { Thread } = await import("../thread/Thread");
  readyThread = Thread;
  return { default: Thread };
};
const LazyThread = lazy(readThread);
const ShortcutList = lazy(() => import("./ShortcutList"));
const DocumentsPanel = lazy(() => import("../documents/DocumentsPanel").then((m) => ({ default: m.DocumentsPanel })));

const PANEL = "documents";
const PREFETCH_MS = 500;

export function App() {
  const [threadId, go] = useRoute();
  useEffect(() => {
    const soon = setTimeout(() => void readThread().catch(() => {}), PREFETCH_MS); // there when the first message is sent
    return () => clearTimeout(soon);
  }, []);
  useEffect(sayConnected, []);
  const [listing, list] = useShortcuts(useCallback(() => go(null), [go]));
  return (
    <Asides>
      <SkipToMessage />
      <div className="flex h-full">
        <SidebarColumn current={threadId} onOpen={go} onShortcuts={() => list(true)} />
        <main className="flex h-full min-w-0 flex-1 flex-col">
          <Header threadId={threadId} onOpen={go} />
          <LimitNotice />
          <Boundary key={threadId ?? "new"}>{threadId ? <Conversation threadId={threadId} onOpen={go} /> : <Welcome onStart={go} />}</Boundary>
        </main>
        <AsideSlot />
        <Aside name={PANEL} title={words.shell.library}>
          <Boundary>
            <Suspense>
              <DocumentsPanel threadId={threadId} />
            </Suspense>
          </Boundary>
        </Aside>
      </div>
      <Toaster />
      {listing && (
        <Suspense>
          <ShortcutList onClose={() => list(false)} />
        </Suspense>
      )}
    </Asides>
  );
}

/** The first stop of who goes through the page with Tab: past all conversations. */
function SkipToMessage() {
  return (
    <button type="button" className="sr-only rounded-lg bg-accent px-4 py-2 text-sm font-medium text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50" onClick={focusMessage}>
      {words.shell.skipToMessage}
    </button>
  );
}

function Brand() {
  return (
    <span className="flex items-center gap-2.5 text-[1.05rem] font-semibold tracking-tight">
      <img src="/favicon.svg" alt="" width="24" height="24" /> Palaver
    </span>
  );
}

const useRoomy = () => useMedia("(min-width: 768px)");

function SidebarColumn({ current, onOpen, onShortcuts }: { current: string | null; onOpen: Go; onShortcuts: () => void }) {
  if (!useRoomy()) return null;
  return (
    <div className="flex h-full w-68 shrink-0 flex-col border-r border-line bg-sunken/50">
      <p className="flex h-14 shrink-0 items-center px-5">
        <Brand />
      </p>
      <Sidebar current={current} onOpen={onOpen} onShortcuts={onShortcuts} />
    </div>
  );
}

function Header({ threadId, onOpen }: { threadId: string | null; onOpen: Go }) {
  const roomy = useRoomy();
  const aside = useAside();
  const { docs } = useLibrary();
  const [drawer, setDrawer] = useState(false);
  const conversation = useConversation(threadId);
  const title = threadId && (conversation || pendingOf(threadId)) ? titleOf(conversation) : ""; // it may not exist

  useEffect(() => {
    document.title = title ? `${title} · Palaver` : "Palaver";
  }, [title]);

  const openFromDrawer: Go = (id, how) => {
    setDrawer(false);
    onOpen(id, how);
  };

  const shown = aside.open === PANEL;
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 px-3 sm:px-5">
      {!roomy && <IconButton label={words.shell.chats} icon={PanelLeft} onClick={() => setDrawer(true)} />}
      {!roomy && !threadId && <Brand />}
      {title && <h1 dir="auto" className="min-w-0 truncate text-sm font-medium text-muted">{title}</h1>}
      {!roomy && threadId && <IconButton label={words.shell.newChat} icon={SquarePen} className="ml-auto" onClick={() => onOpen(null)} />}
      <button
        type="button"
        aria-expanded={shown}
        className={`${!roomy && threadId ? "" : "ml-auto"} inline-flex h-9 shrink-0 items-center gap-2 rounded-lg px-3 text-sm font-medium text-muted transition-colors pointer-coarse:h-11 hover:bg-sunken hover:text-ink aria-expanded:bg-sunken aria-expanded:text-ink`}
        onClick={() => (shown ? aside.close() : aside.show(PANEL))}
      >
        <FolderOpen aria-hidden className="size-4" />
        <span className="max-sm:sr-only">{words.shell.library}</span>
        {docs.length > 0 && <span className="tabular-nums">{docs.length}</span>}
      </button>
      {!roomy && drawer && (
        <Drawer title={words.shell.chats} side="left" onClose={() => setDrawer(false)}>
          <Sidebar current={threadId} onOpen={openFromDrawer} />
        </Drawer>
      )}
    </header>
  );
}

// A turn that begins, pauses or ends changes its title, order and state, and what it knows.
const onActivity = () => {
  void refreshConversations();
  void refreshMe();
};

/** One conversation, and the message that the welcome page has left for it. */
function Conversation({ threadId, onOpen }: { threadId: string; onOpen: Go }) {
  const [first] = useState(() => pendingOf(threadId));
  const onFirstAccepted = useCallback(() => dropPending(threadId), [threadId]);
  const onUnsaid = useCallback(
    (out: Outgoing) => {
      returnToDraft(null, out);
      dropPending(threadId);
      onOpen(null, "replace");
    },
    [threadId, onOpen],
  );
  // Once it is read it is drawn at once, and has the next key that is pressed: React leaves a gap before what is lazy.
  const [Thread] = useState<ThreadComponent | typeof LazyThread>(() => readyThread ?? LazyThread);
  return (
    <Suspense fallback={<div className="flex-1" aria-busy="true" />}>
      <Thread threadId={threadId} {...(first && { first })} onActivity={onActivity} onFirstAccepted={onFirstAccepted} onUnsaid={onUnsaid} />
    </Suspense>
  );
}
