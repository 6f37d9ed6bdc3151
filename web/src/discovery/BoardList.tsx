import { Download, LayoutDashboard, MoreHorizontal, Plus, Trash2, Upload } from "lucide-react";
import { useEffect, useRef, useState, type MouseEvent } from "react";
import { errorText } from "../api/query";
import { since } from "../shell/groups";
import { boardAddress, type Go } from "../shell/useRoute";
import { useContributes } from "../spaces/spaces";
import { Button, IconButton } from "../ui/Button";
import { Menu, MenuItem, MenuLink } from "../ui/Menu";
import { toast } from "../ui/toast";
import { words } from "../words";
import { boardWords } from "../words/discovery";
import { boardPath, createBoard, deleteBoard, restoreBoard, useBoards, type Listed } from "./api";
import { kinds } from "./board";
import { exampleBoard } from "./example";
import { columnIcons } from "./icons";
import { TitleDialog } from "./TitleDialog";

const MOST_BYTES = 4 << 20;

/** The file name of an exported board. */
export const fileName = (title: string): string => `${title.replace(/[^\p{L}\p{N} _-]+/gu, " ").replace(/\s+/g, " ").trim().slice(0, 80) || "board"}.json`;

export function BoardList({ onOpen }: { onOpen: Go }) {
  const boards = useBoards();
  const contributes = useContributes();
  const picker = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    document.title = `${boardWords.list.boards} · Palaver`;
  }, []);

  const [making, setMaking] = useState(false);
  const make = async (title: string, goal: string) => onOpen((await createBoard(JSON.stringify({ title, goal }))).id);
  const openExample = async () => {
    setBusy(true);
    try {
      onOpen((await createBoard(exampleBoard())).id);
    } catch (err) {
      toast.error(errorText(err));
      setBusy(false);
    }
  };

  const read = async (file: File) => {
    if (file.size > MOST_BYTES) return toast.error(boardWords.list.tooLarge(file.name));
    setBusy(true);
    try {
      const text = await file.text();
      if (!isObject(text)) return toast.error(boardWords.list.notJSON(file.name));
      const made = await createBoard(text);
      toast(boardWords.list.imported(made.title || boardWords.list.untitled));
      onOpen(made.id);
    } catch (err) {
      toast.error(boardWords.list.importFailed(file.name, errorText(err)));
    } finally {
      setBusy(false);
    }
  };

  return (
    <div data-board className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto w-full max-w-3xl px-4 py-6 sm:px-6">
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="mr-auto text-xl font-semibold">{boardWords.list.boards}</h2>
          <input
            ref={picker}
            type="file"
            accept="application/json,.json"
            hidden
            onChange={(e) => {
              const file = e.target.files?.[0];
              e.target.value = ""; // so that the same file can be chosen again
              if (file) void read(file);
            }}
          />
          {contributes && (
            <>
              <Button icon={Upload} disabled={busy} onClick={() => picker.current?.click()}>
                {boardWords.list.import}
              </Button>
              <Button variant="primary" icon={Plus} disabled={busy} onClick={() => setMaking(true)}>
                {boardWords.list.new}
              </Button>
            </>
          )}
        </div>
        <p className="mt-2 max-w-prose text-muted">{boardWords.list.intro}</p>
        {boards.isError && (
          <div role="alert" className="mt-6 flex flex-wrap items-center gap-3 text-bad">
            <p>{boardWords.list.failed(errorText(boards.error))}</p>
            <Button onClick={() => void boards.refetch()}>{words.common.tryAgain}</Button>
          </div>
        )}
        {boards.isSuccess && boards.items.length === 0 && (
          <>
            <ol aria-label={boardWords.list.how} className="mt-6 grid gap-2 lg:grid-cols-[repeat(5,minmax(min-content,1fr))]">
              {kinds.map((kind) => {
                const Glyph = columnIcons[kind];
                return (
                  <li key={kind} className="flex gap-3 rounded-xl bg-sunken/60 p-2.5 text-sm max-lg:items-center lg:flex-col lg:gap-1.5">
                    <Glyph aria-hidden className="size-5 shrink-0 text-accent" />
                    <span>
                      <span className="block font-semibold tracking-tight break-words lg:text-xs">{boardWords.columns[kind]}</span>
                      <span className="block text-muted">{boardWords.board.empty[kind]}</span>
                    </span>
                  </li>
                );
              })}
            </ol>
            {contributes && (
              <Button className="mt-4" icon={LayoutDashboard} disabled={busy} onClick={() => void openExample()}>
                {boardWords.list.example}
              </Button>
            )}
          </>
        )}
        {boards.items.length > 0 && (
          <ul aria-label={boardWords.list.boards} className="mt-6 divide-y divide-line overflow-hidden rounded-2xl border border-line bg-surface">
            {boards.items.map((board) => (
              <Row key={board.id} board={board} onOpen={onOpen} />
            ))}
          </ul>
        )}
        {boards.hasNextPage && (
          <Button className="mt-4" disabled={boards.isFetchingNextPage} onClick={() => void boards.fetchNextPage()}>
            {boardWords.list.more}
          </Button>
        )}
        {making && <TitleDialog label={boardWords.list.new} save={make} onClose={() => setMaking(false)} />}
      </div>
    </div>
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

async function remove(id: string, title: string) {
  const back = () => void restoreBoard(id).catch((err: unknown) => toast.error(boardWords.list.restoreFailed(errorText(err))));
  try {
    await deleteBoard(id);
    toast(words.common.deleted(title), { action: { label: words.common.undo, onClick: back }, timeout: 10_000 });
  } catch (err) {
    toast.error(words.common.deleteFailed(errorText(err)));
  }
}

function Row({ board, onOpen }: { board: Listed; onOpen: Go }) {
  const title = board.title || boardWords.list.untitled;
  const contributes = useContributes();
  const open = (e: MouseEvent) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    onOpen(board.id);
  };
  return (
    <li className="flex items-center gap-2 pr-2 hover:bg-sunken">
      <a href={boardAddress(board.id)} onClick={open} className="min-w-0 flex-1 px-4 py-3 -outline-offset-2">
        <span dir="auto" className="block truncate font-medium">
          {title}
        </span>
        <span className="block text-sm text-muted">
          {boardWords.list.items(board.items)} · {boardWords.list.changed(since(board.updated_at))}
        </span>
      </a>
      <Menu trigger={<IconButton label={words.shell.options(title)} icon={MoreHorizontal} />}>
        <MenuLink icon={Download} href={boardPath(board.id)} name={fileName(title)}>
          {boardWords.list.export}
        </MenuLink>
        {contributes && (
          <MenuItem icon={Trash2} danger onSelect={() => void remove(board.id, title)}>
            {words.shell.delete}
          </MenuItem>
        )}
      </Menu>
    </li>
  );
}
