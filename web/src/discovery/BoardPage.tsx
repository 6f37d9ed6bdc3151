import { ArrowLeft, Download, History, Pencil } from "lucide-react";
import { Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";
import { ApiError } from "../api/http";
import { errorText } from "../api/query";
import type { Go } from "../shell/useRoute";
import { useContributes } from "../spaces/spaces";
import { Button, IconButton } from "../ui/Button";
import { lazy } from "../ui/lazy";
import { SearchField } from "../ui/SearchField";
import { toast } from "../ui/toast";
import { words } from "../words";
import { boardWords } from "../words/discovery";
import { boardPath, changedId, deleteItem, editItem, problemText, renameBoard, undo, useBoard, type Done } from "./api";
import { fileName } from "./BoardList";
import { Graph, kinds, matching, neighbour, statusesOf, type Board, type Filter, type Item, type Kind } from "./board";
import { ChangesDialog } from "./ChangesDialog";
import { Column } from "./Column";
import { ShownBoard } from "./context";
import type { Act } from "./ItemCard";
import { ItemDialog } from "./ItemDialog";
import { useSources } from "./Source";
import { TitleDialog } from "./TitleDialog";
import { Trace } from "./trace";
import type { ChatHandle } from "./chat/ChatWidget";

const ChatWidget = lazy(() => import("./chat/ChatWidget").then((m) => ({ default: m.ChatWidget })));

/** Loads a board and shows it. */
export function BoardPage({ id, onOpen }: { id: string; onOpen: Go }) {
  const { data: board, error, refetch } = useBoard(id);
  const title = board ? board.title || boardWords.list.untitled : "";
  useEffect(() => {
    document.title = title ? `${title} · Palaver` : "Palaver";
  }, [title]);
  const gone = error instanceof ApiError && (error.status === 404 || error.status === 400);
  if (gone) {
    return (
      <Notice>
        <h1>{boardWords.board.missing}</h1>
        <Button className="mt-4" onClick={() => onOpen(null)}>
          {boardWords.board.all}
        </Button>
      </Notice>
    );
  }
  if (board) return <Shown board={board} onOpen={onOpen} />;
  if (!error) return <p role="status" className="m-auto text-muted">{boardWords.board.opening}</p>;
  return (
    <Notice>
      <h1 role="alert">{boardWords.board.failed(errorText(error))}</h1>
      <Button className="mt-4" onClick={() => void refetch()}>
        {words.common.tryAgain}
      </Button>
    </Notice>
  );
}

const Notice = ({ children }: { children: React.ReactNode }) => <div className="m-auto max-w-md px-6 text-center text-muted">{children}</div>;

/** The dialog that is open over the board. */
type Open = { what: "add"; kind: Kind } | { what: "edit" | "versions"; item: Item } | { what: "title" } | { what: "changes" };

const UNDO_MS = 10_000;

/** Shows a toast about a change, with a button that undoes it. */
export function toastDone(board: string, text: string, done: Done): void {
  const back = () => void undo(board, done.change).catch((err: unknown) => toast.error(boardWords.changes.failed(problemText(err))));
  toast(text, { action: { label: words.common.undo, onClick: back }, timeout: UNDO_MS });
}

function Shown({ board, onOpen }: { board: Board; onOpen: Go }) {
  const graph = useMemo(() => new Graph(board.items), [board.items]);
  const [trace] = useState(() => new Trace(graph));
  useEffect(() => trace.follow(graph), [trace, graph]);
  const [search, setSearch] = useState("");
  const [filter, setFilter] = useState<Filter>("all");
  const query = useDeferredValue(search);
  const items = useMemo(() => matching(board.items, graph, query, filter), [board.items, graph, query, filter]);
  const columns = useMemo(() => kinds.map((kind) => items.filter((i) => i.kind === kind)), [items]);
  const [open, setOpen] = useState<Open | null>(null);
  const [current, setCurrent] = useState("");
  const root = useRef<HTMLDivElement>(null);
  const chat = useRef<ChatHandle>(null);
  const contributes = useContributes();

  const cardOf = (id: string) => root.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);

  // The item to show once the search and the filter that hide it are cleared.
  const wanted = useRef("");
  const show = (id: string): boolean => {
    const card = cardOf(id);
    if (!card) return false;
    const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    card.scrollIntoView({ block: "center", inline: "center", behavior: reduced ? "auto" : "smooth" });
    card.focus({ preventScroll: true });
    delete card.dataset.flash;
    requestAnimationFrame(() => (card.dataset.flash = ""));
    setTimeout(() => delete card.dataset.flash, 2_500);
    return true;
  };
  const reveal = useCallback((id: string) => {
    if (show(id)) return;
    wanted.current = id;
    setSearch("");
    setFilter("all");
  }, []);
  useEffect(() => {
    if (wanted.current && show(wanted.current)) wanted.current = "";
  }, [items]);

  // The actions never change, so that memo renders only the cards that have changed.
  const { open: sources, panels } = useSources();
  const now = useRef({ board, columns, graph });
  now.current = { board, columns, graph };
  const act = useMemo<Act>(() => {
    const { id, threadId } = now.current.board;
    return {
      edit: (item) => setOpen({ what: "edit", item }),
      versions: (item) => setOpen({ what: "versions", item }),
      ...(threadId && { mention: (item) => chat.current?.mention(item) }),
      reveal,
      sources,
      clear: (item) => void editItem(id, item, { stale: false }).then((done) => toastDone(id, boardWords.item.cleared(item), done), (err: unknown) => toast.error(boardWords.item.failed(item, problemText(err)))),
      remove: (item) => {
        const { columns: shown } = now.current;
        const next = neighbour(shown, item, "ArrowDown") ?? neighbour(shown, item, "ArrowUp");
        void deleteItem(id, item).then(
          (done) => {
            toastDone(id, done.impact > 0 ? boardWords.item.deletedStale(item, done.impact) : boardWords.item.deleted(item), done);
            if (next && document.activeElement === document.body) cardOf(next)?.focus();
          },
          (err: unknown) => toast.error(boardWords.item.failed(item, problemText(err))),
        );
      },
    };
  }, [reveal, sources]);

  const add = useCallback((kind: Kind) => setOpen({ what: "add", kind }), []);

  const itemAt = (target: EventTarget | null) => (target instanceof Element ? (target.closest<HTMLElement>("[data-item]")?.dataset.item ?? null) : null);

  const onKey = (e: KeyboardEvent) => {
    const id = e.target instanceof HTMLElement ? e.target.dataset.item : undefined; // only for the card itself, not for what it contains
    if (!id || e.altKey) return;
    const item = graph.find(id);
    if (!item) return;
    if (!contributes && (e.key === "Enter" || e.key === "Delete")) return;
    if (e.key === "Enter") {
      e.preventDefault();
      if (e.ctrlKey || e.metaKey) act.mention?.(id);
      else act.edit(item);
    } else if (e.key === "Delete") {
      act.remove(id);
    } else {
      const next = neighbour(columns, id, e.key);
      if (!next) return;
      e.preventDefault();
      cardOf(next)?.focus();
    }
  };

  const onClick = (e: MouseEvent) => {
    const id = itemAt(e.target);
    if (!id || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    e.stopPropagation();
    act.mention?.(id);
  };

  const focused = items.some((i) => i.id === current) ? current : (items[0]?.id ?? "");
  const narrowed = items.length !== board.items.length;
  const statuses = useMemo(() => statusesOf(board.items), [board.items]);
  const shown = useMemo(() => ({ board, graph, reveal, sources }), [board, graph, reveal, sources]);
  const title = board.title || boardWords.list.untitled;

  return (
    <ShownBoard value={shown}>
      <div data-board className="flex min-h-0 flex-1 flex-col">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-2 border-b border-line px-3 pb-3 sm:px-5">
          <IconButton label={boardWords.board.all} icon={ArrowLeft} onClick={() => onOpen(null)} />
          <div className="min-w-40 flex-1">
            <h2 dir="auto" className="truncate text-lg leading-tight font-semibold">
              {title}
            </h2>
            <p dir="auto" className="truncate text-sm text-muted" title={board.goal}>
              {board.goal || (contributes && boardWords.board.noGoal)}
            </p>
          </div>
          <div className="flex items-center gap-0.5">
            {contributes && <IconButton label={boardWords.board.edit} icon={Pencil} onClick={() => setOpen({ what: "title" })} />}
            <IconButton label={boardWords.changes.title} icon={History} onClick={() => setOpen({ what: "changes" })} />
            <a href={boardPath(board.id)} download={fileName(title)} aria-label={boardWords.list.export} title={boardWords.list.export} className="inline-flex size-9 items-center justify-center rounded-lg text-muted transition-colors pointer-coarse:size-11 hover:bg-sunken hover:text-ink">
              <Download aria-hidden className="size-[1.15rem]" />
            </a>
          </div>
          <div className="flex w-full items-center gap-2 lg:w-auto">
            <SearchField label={boardWords.board.search} value={search} onChange={setSearch} className="min-w-0 flex-1 lg:w-60" onDown={() => cardOf(focused)?.focus()} />
            <select aria-label={boardWords.board.filter} value={filter} onChange={(e) => setFilter(e.target.value)} className="h-9 max-w-44 rounded-lg border border-line bg-surface px-2 text-sm pointer-coarse:h-11">
              {(["all", "stale", "unconnected"] as const).map((f) => (
                <option key={f} value={f}>
                  {boardWords.board.filters[f]}
                </option>
              ))}
              {statuses.map((s) => (
                <option key={s} value={`status:${s}`}>
                  {boardWords.board.status(s)}
                </option>
              ))}
            </select>
          </div>
          <p role="status" className="sr-only">
            {narrowed ? boardWords.board.found(items.length) : ""}
          </p>
        </div>
        <p id="board-keys" className="sr-only">
          {boardWords.board.keys}
        </p>
        <div
          ref={root}
          role="group"
          aria-label={boardWords.board.label}
          aria-describedby="board-keys"
          className="board-columns min-h-0 flex-1 gap-2 px-3 py-3"
          onKeyDown={onKey}
          onClickCapture={onClick}
          onPointerOver={(e) => e.pointerType === "mouse" && trace.point(itemAt(e.target))}
          onPointerLeave={() => trace.point(itemAt(document.activeElement))}
          onFocus={(e) => {
            const id = itemAt(e.target);
            trace.point(id);
            if (id) setCurrent(id);
          }}
          onBlur={() => trace.point(null)}
        >
          {kinds.map((kind, i) => (
            <Column key={kind} kind={kind} items={columns[i]!} all={board.items.length > 0 && narrowed ? board.items.filter((item) => item.kind === kind).length : columns[i]!.length} graph={graph} trace={trace} current={columns[i]!.some((item) => item.id === focused) ? focused : ""} act={act} onAdd={contributes ? add : undefined} />
          ))}
        </div>
        {open?.what === "add" && <ItemDialog board={board} graph={graph} kind={open.kind} onSource={sources.passage} onClose={() => setOpen(null)} onDone={(done) => toastDone(board.id, boardWords.item.added(changedId(done)), done)} />}
        {(open?.what === "edit" || open?.what === "versions") && (
          <ItemDialog
            board={board}
            graph={graph}
            kind={open.item.kind}
            item={open.item}
            versions={open.what === "versions"}
            onSource={sources.passage}
            onClose={() => setOpen(null)}
            onDone={(done) => toastDone(board.id, done.impact > 0 ? boardWords.item.savedStale(open.item.id, done.impact) : boardWords.item.saved(open.item.id), done)}
          />
        )}
        {panels}
        {open?.what === "title" && <TitleDialog label={boardWords.board.edit} board={board} save={(title, goal) => renameBoard(board.id, title, goal)} onClose={() => setOpen(null)} />}
        {open?.what === "changes" && <ChangesDialog board={board} onClose={() => setOpen(null)} />}
        {board.threadId && (
          <Suspense fallback={null}>
            <ChatWidget key={board.threadId} ref={chat} />
          </Suspense>
        )}
      </div>
    </ShownBoard>
  );
}
