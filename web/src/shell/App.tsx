import { FolderOpen, MessageCircleDashed, PanelLeft, Search, SquarePen } from "lucide-react";
import { Suspense, useCallback, useEffect, useState } from "react";
import { request } from "../api/http";
import { useSpaceId } from "../api/space";
import { returnToDraft } from "../composer/drafts";
import { focusMessage } from "../composer/focus";
import { nextChat, returnChat } from "../composer/newChat";
import type { Outgoing } from "../composer/types";
import { InChat, LIBRARY as PANEL, useLibrary } from "../documents/library";
import { openFind } from "../thread/findBus";
import { prepareProse } from "../thread/Prose";
import { Aside, Asides, AsideSlot, useAside } from "../ui/Aside";
import { Button, IconButton } from "../ui/Button";
import { local } from "../lib/storage";
import { Drawer } from "../ui/Dialog";
import { useDeleted } from "../ui/deletions";
import { lazy, loaded } from "../ui/lazy";
import { toast, Toaster, ToastRoom } from "../ui/toast";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { toastConnected } from "../imports/accounts";
import { useSession } from "../session/account";
import { rememberSpace } from "../spaces/choice";
import { useMembership, useSpaces } from "../spaces/spaces";
import { Boundary } from "./Boundary";
import { ChatTitle } from "./ChatTitle";
import { conversationPath, refreshConversations, titleOf, useConversation, useSharing } from "./conversations";
import { LimitNotice } from "./LimitNotice";
import { refreshMe } from "./me";
import { dropPending, pendingOf } from "./pending";
import { useShortcuts } from "./shortcuts";
import { useLeaveTemporary, useTemporary } from "./temporary";
import { Sidebar } from "./Sidebar";
import { useRoute, type Go, type Place, type Visit } from "./useRoute";
import { Welcome } from "./Welcome";

// Loaded lazily, so that the welcome page's composer appears sooner.
type ThreadComponent = typeof import("../thread/Thread").Thread;
let readyThread: ThreadComponent | undefined;
const readThread = async () => {
  const { Thread } = await import("../thread/Thread");
  readyThread = Thread;
  return { default: Thread };
};
const LazyThread = lazy(readThread);
const ShortcutList = lazy(() => import("./ShortcutList"));
const Discovery = lazy(async () => {
  const [page] = await Promise.all([import("../discovery/Discovery"), import("../words/discovery").then((m) => m.loadDiscoveryWords())]);
  return page;
});
const Admin = lazy(async () => {
  const [page] = await Promise.all([import("../admin/Admin"), import("../words/admin").then((m) => m.loadAdminWords())]);
  return page;
});
const PrintPage = lazy(() => import("./PrintPage"));
const SharedPage = lazy(() => import("./SharedPage"));
const DocumentsPanel = lazy(() => import("../documents/DocumentsPanel").then((m) => ({ default: m.DocumentsPanel })));

const FIRST_USE = ["pointermove", "pointerdown", "keydown"];

/** Loads what a conversation needs, before it is shown. */
export function prepareConversation(): void {
  void loaded(readThread).catch(() => {});
  prepareProse();
}

/** Prepares a conversation when the person first does something. */
function usePrepared() {
  useEffect(() => {
    const used = new AbortController();
    const load = () => {
      used.abort();
      prepareConversation();
    };
    for (const act of FIRST_USE) addEventListener(act, load, { signal: used.signal, passive: true });
    return () => used.abort();
  }, []);
}

export function App() {
  const [place, visit] = useRoute();
  if (place?.page === "print" && place.id) {
    return (
      <Boundary>
        <Suspense fallback={null}>
          <PrintPage threadId={place.id} />
        </Suspense>
      </Boundary>
    );
  }
  if (place?.page === "s" && place.id) {
    return (
      <Boundary>
        <Suspense fallback={null}>
          <SharedPage token={place.id} />
        </Suspense>
      </Boundary>
    );
  }
  if (place?.page === "admin") {
    return (
      <Boundary>
        <Suspense fallback={<Loading />}>
          <Admin />
        </Suspense>
      </Boundary>
    );
  }
  return <InSpace route={place} visit={visit} />;
}

/** The page in a space, or in none. Another space is another page: nothing of one is left in the other. */
function InSpace(props: { route: Place | null; visit: Visit }) {
  const { visit } = props;
  useMembership(
    useCallback(
      (name) => {
        rememberSpace("");
        visit({ page: "chat", id: null, space: "" }, "replace");
        toast.error(name ? words.spaces.removed(name) : words.spaces.unknown, { timeout: 0 });
      },
      [visit],
    ),
  );
  return (
    <>
      {/* First, so that it is there when the chat's first effects show a notice. */}
      <Toaster />
      <Chat key={useSpaceId()} {...props} />
    </>
  );
}

/** Goes to the space of a conversation whose address does not name it, if the person reads that space. */
function useItsSpace(threadId: string | null, visit: Visit) {
  const of = useConversation(threadId)?.space_id;
  const space = useSpaceId();
  const reads = useSpaces()?.some((s) => s.id === of && !s.deleted_at);
  useEffect(() => {
    if (of && of !== space && reads) visit({ page: "chat", id: threadId, space: of }, "replace");
  }, [of, space, reads, threadId, visit]);
}

const WELCOME: Place = { page: "chat", id: null };

function Chat({ route, visit }: { route: Place | null; visit: Visit }) {
  const { leaving } = useSession();
  const place = leaving ? WELCOME : route;
  const threadId = place?.page === "chat" ? place.id : null;
  const go = useCallback<Go>((id, how) => visit({ page: "chat", id }, how), [visit]);
  const wideScreen = useWideScreen();
  usePrepared();
  useEffect(toastConnected, []);
  useLeaveDeleted(threadId, go);
  useLeaveTemporary(threadId);
  useItsSpace(threadId, visit);
  const [drawer, setDrawer] = useState(false);
  const [folded, fold] = useFolded();
  const [listing, list] = useShortcuts(
    useCallback(() => go(null), [go]),
    useCallback(() => (fold(false), setDrawer(true)), [fold]),
  );
  return (
    <InChat value={place?.page === "chat" && !leaving ? (threadId ?? nextChat()) : null}>
    <Asides>
      <SkipToMessage board={place?.page === "discovery"} />
      <div className="flex h-full">
        <SidebarColumn folded={folded} fold={fold} place={place} onOpen={go} onVisit={visit} onShortcuts={() => list(true)} />
        <main className="flex h-full min-w-0 flex-1 flex-col">
          <Header place={place} onOpen={go} onVisit={visit} drawer={drawer} setDrawer={setDrawer} />
          {!wideScreen && !drawer && <ToastRoom />}
          <LimitNotice />
          <Boundary key={`${place?.page} ${place?.id ?? place?.name}`}>
            {leaving ? <Loading /> : !place ? <Unknown onOpen={go} /> : place.name ? <Named name={place.name} onOpen={go} /> : place.page === "discovery" ? <Boards id={place.id} onVisit={visit} /> : threadId ? <Conversation threadId={threadId} onOpen={go} /> : <Welcome onStart={go} />}
          </Boundary>
        </main>
        <AsideSlot />
        {!leaving && (
          <Aside name={PANEL} title={words.shell.library}>
            <Boundary>
              <Suspense>
                <DocumentsPanel threadId={threadId} />
              </Suspense>
            </Boundary>
          </Aside>
        )}
      </div>
      {listing && (
        <Suspense>
          <ShortcutList onClose={() => list(false)} />
        </Suspense>
      )}
    </Asides>
    </InChat>
  );
}

/** Leaves a conversation that another tab is deleting: a message sent here would be deleted with it. */
function useLeaveDeleted(threadId: string | null, go: Go) {
  const deleted = useDeleted();
  const gone = threadId !== null && deleted.has(conversationPath(threadId));
  useEffect(() => {
    if (!gone) return;
    go(null, "replace");
    toast(words.shell.deletedElsewhere);
  }, [gone, go]);
}

/** Shown for an unknown URL. */
function Unknown({ onOpen }: { onOpen: Go }) {
  return (
    <div className="m-auto max-w-md px-6 text-center">
      <h1 className="text-lg font-semibold">{words.shell.unknownPage}</h1>
      <p className="mt-2 text-muted">{words.shell.unknownPageHelp}</p>
      <Button className="mt-5" onClick={() => onOpen(null)}>
        {words.thread.startNew}
      </Button>
    </div>
  );
}

/** Opens a thread by the name that another client has given it. */
function Named({ name, onOpen }: { name: string; onOpen: Go }) {
  const [unknown, setUnknown] = useState(false);
  useEffect(() => {
    let left = false;
    void request(`/api/ui/chat/${name}?limit=1`).then(
      (found) => left || onOpen(found.headers.get("X-Thread-Id"), "replace"),
      () => left || setUnknown(true),
    );
    return () => void (left = true);
  }, [name, onOpen]);
  return unknown ? <Unknown onOpen={onOpen} /> : <Loading />;
}

const Loading = () => <div className="flex-1" aria-busy="true" />;

/** Shows the first message where the thread will show it, until that is loaded. */
const Sent = ({ text }: { text: string }) => (
  <div className="mx-auto w-full max-w-3xl flex-1 px-4 pt-4 sm:px-6" aria-busy="true">
    <p dir="auto" className="ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 whitespace-pre-wrap">
      {text}
    </p>
  </div>
);

function Boards({ id, onVisit }: { id: string | null; onVisit: Visit }) {
  return (
    <Suspense fallback={<Loading />}>
      <Discovery id={id} onOpen={(next, how) => onVisit({ page: "discovery", id: next }, how)} />
    </Suspense>
  );
}

const focusBoard = () => document.querySelector<HTMLElement>("[data-board] :is([tabindex='0'], button, a)")?.focus();

/** The first link that Tab reaches. It skips the list of conversations. */
function SkipToMessage({ board }: { board: boolean }) {
  return (
    <button type="button" className="sr-only rounded-lg bg-accent px-4 py-2 text-sm font-medium text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50" onClick={board ? focusBoard : focusMessage}>
      {board ? words.shell.skipToBoard : words.shell.skipToMessage}
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

const useWideScreen = () => useMedia("(min-width: 768px)");

const FOLDED = "palaver.sidebar.folded"; // also read by public/theme.js

/** Whether the list of chats is folded, in this browser. */
function useFolded(): [boolean, (to: boolean) => void] {
  const [folded, setFolded] = useState(() => local.read(FOLDED) !== null);
  const fold = useCallback((to: boolean) => {
    setFolded(to);
    local.write(FOLDED, to ? "yes" : null);
  }, []);
  return [folded, fold];
}

interface Navigation {
  place: Place | null;
  onOpen: Go;
  onVisit: Visit;
}

function SidebarColumn({ folded, fold, onShortcuts, ...navigation }: Navigation & { folded: boolean; fold: (to: boolean) => void; onShortcuts: () => void }) {
  if (!useWideScreen()) return null;
  if (folded) {
    return (
      <aside aria-label={words.shell.chats} className="flex h-full w-14 shrink-0 flex-col items-center gap-1 border-r border-line bg-sunken/50 pt-2.5">
        <IconButton icon={PanelLeft} label={words.shell.showChats} onClick={() => fold(false)} />
        <IconButton icon={SquarePen} label={words.shell.newChat} onClick={() => navigation.onOpen(null)} />
        <ToastRoom />
      </aside>
    );
  }
  return (
    <aside aria-label={words.shell.chats} className="flex h-full w-68 shrink-0 flex-col border-r border-line bg-sunken/50">
      <p className="flex h-14 shrink-0 items-center pr-3 pl-5">
        <Brand />
        <IconButton className="ml-auto" icon={PanelLeft} label={words.shell.hideChats} onClick={() => fold(true)} />
      </p>
      <Sidebar {...navigation} onShortcuts={onShortcuts} />
    </aside>
  );
}

function Header({ place, onOpen, onVisit, drawer, setDrawer }: Navigation & { drawer: boolean; setDrawer: (open: boolean) => void }) {
  const boards = place?.page === "discovery";
  const threadId = place?.page === "chat" ? place.id : null;
  const wideScreen = useWideScreen();
  const aside = useAside();
  const kept = useLibrary().docs.filter((d) => !d.conversation_id).length;
  const conversation = useConversation(threadId);
  const temporary = useTemporary(threadId);
  const title = temporary ? words.thread.temporary : boards ? words.shell.discovery : threadId && (conversation || pendingOf(threadId)) ? titleOf(conversation) : ""; // the thread may not exist

  useEffect(() => {
    if (!boards) document.title = title ? `${title} · Palaver` : "Palaver"; // a board sets its own
  }, [boards, title]);

  const openFromDrawer: Go = (id, how) => {
    setDrawer(false);
    onOpen(id, how);
  };
  const visitFromDrawer: Visit = (to, how) => {
    setDrawer(false);
    onVisit(to, how);
  };

  const shown = aside.open === PANEL;
  return (
    <header className="flex h-14 shrink-0 items-center gap-2 px-3 sm:px-5">
      {!wideScreen && <IconButton label={words.shell.chats} icon={PanelLeft} onClick={() => setDrawer(true)} />}
      {!wideScreen && !threadId && !boards && <Brand />}
      {temporary && <MessageCircleDashed aria-hidden className="size-4 shrink-0 text-accent" />}
      {title && <ChatTitle key={threadId} title={title} conversation={conversation} temporary={temporary} onFind={wideScreen ? undefined : openFind} onOpen={onOpen} />}
      {!wideScreen && threadId && <IconButton label={words.shell.newChat} icon={SquarePen} className="ml-auto" onClick={() => onOpen(null)} />}
      {wideScreen && threadId && title && <IconButton label={words.thread.find} icon={Search} className="ml-auto" onClick={openFind} />}
      <button
        type="button"
        aria-expanded={shown}
        className={`${threadId && (title || !wideScreen) ? "" : "ml-auto"} inline-flex h-9 shrink-0 items-center gap-2 rounded-lg px-3 text-sm font-medium text-muted transition-colors pointer-coarse:h-11 hover:bg-sunken hover:text-ink aria-expanded:bg-sunken aria-expanded:text-ink`}
        onClick={() => (shown ? aside.close() : aside.show(PANEL))}
      >
        <FolderOpen aria-hidden className="size-4" />
        <span className="max-sm:sr-only">{words.shell.library}</span>
        {kept > 0 && <span className="tabular-nums">{kept}</span>}
      </button>
      {!wideScreen && drawer && (
        <Drawer title={words.shell.chats} side="left" onClose={() => setDrawer(false)}>
          <Sidebar place={place} onOpen={openFromDrawer} onVisit={visitFromDrawer} />
        </Drawer>
      )}
    </header>
  );
}

const TITLE_MS = 5_000;
let later: ReturnType<typeof setTimeout> | undefined;

// A turn that starts, pauses or ends changes the thread's title, order, state and
// documents. A model may write a new title soon after the first answer.
const onActivity = () => {
  void refreshConversations();
  void refreshMe();
  clearTimeout(later);
  later = setTimeout(() => void refreshConversations(), TITLE_MS);
};

/** One conversation, and the first message if it comes from the welcome page. */
export function Conversation({ threadId, onOpen }: { threadId: string; onOpen: (id: string | null, how?: "replace") => void }) {
  const [first] = useState(() => pendingOf(threadId));
  const onFirstAccepted = useCallback(() => dropPending(threadId), [threadId]);
  const onUnsent = useCallback(
    (out: Outgoing) => {
      returnToDraft(null, out);
      returnChat(threadId);
      dropPending(threadId);
      onOpen(null, "replace");
    },
    [threadId, onOpen],
  );
  // Rendered without lazy() once it is loaded: lazy() would leave a gap in which key presses are lost.
  const [Thread] = useState<ThreadComponent | typeof LazyThread>(() => readyThread ?? LazyThread);
  const { ready, sharing } = useSharing(threadId, first !== undefined);
  if (!ready) return <Loading />;
  return (
    <Suspense fallback={first ? <Sent text={first.text} /> : <Loading />}>
      <Thread key={sharing?.author ?? ""} threadId={threadId} {...(first && { first })} {...(sharing && { sharing })} onCopied={onOpen} onActivity={onActivity} onFirstAccepted={onFirstAccepted} onUnsent={onUnsent} />
    </Suspense>
  );
}
