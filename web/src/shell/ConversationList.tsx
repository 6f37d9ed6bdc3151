import { Archive, ListChecks } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Virtualizer } from "virtua";
import { errorText } from "../api/query";
import { useSpaceId } from "../api/space";
import { Button, IconButton } from "../ui/Button";
import { ListedUl } from "../ui/Listed";
import { useMinutes } from "../ui/useMinutes";
import { words } from "../words";
import { ConversationRow } from "./ConversationRow";
import { useConversations } from "./conversations";
import { byAge } from "./groups";
import { pick } from "./picking";
import { Selection } from "./Selection";
import type { Go } from "./useRoute";

interface Props {
  q: string;
  current: string | null;
  /** Whether to open the first conversation once the list has loaded. */
  openFirst: boolean;
  onOpen: Go;
}

/** Pixels to render above and below the visible part. */
const BUFFER = 600;

/** The conversations by age. A person may have thousands, so only the visible ones are rendered. */
export function ConversationList({ q, current, openFirst, onOpen }: Props) {
  const [archive, setArchive] = useState(false);
  const archived = archive && q === "";
  const list = useConversations(q, archived);
  const own = list.items.filter((c) => !c.author); // only these can be changed
  const [picked, setPicked] = useState<ReadonlySet<string> | null>(null); // null: one opens a conversation
  const last = useRef<string | null>(null);
  const select = useRef<HTMLButtonElement>(null);
  const showArchived = () => {
    setArchive(!archive);
    setPicked(null);
  };
  const stopPicking = () => {
    setPicked(null);
    last.current = null;
    select.current?.focus();
  };
  const onPick = (id: string, range: boolean) => {
    const before = last.current;
    last.current = id;
    setPicked((now) => now && pick(now, own.map((c) => c.id), id, before, range));
  };
  useMinutes();
  const space = useSpaceId();
  const box = useRef<HTMLElement>(null);
  const end = useRef<HTMLDivElement>(null);

  // The next page is fetched when its placeholder becomes visible.
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = list;
  useEffect(() => {
    if (!hasNextPage || isFetchingNextPage || !end.current) return;
    const seen = new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && void fetchNextPage());
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  const first = list.isPlaceholderData ? undefined : list.items[0]?.id;
  useEffect(() => {
    if (openFirst && first) onOpen(first);
  }, [openFirst, first, onOpen]);

  return (
    <>
      <div className="flex items-center gap-0.5 px-3">
        <h2 className="min-w-0 flex-1 truncate px-2 text-sm font-medium">{archived ? words.shell.archived : words.shell.chats}</h2>
        <IconButton size="small" icon={Archive} label={words.shell.showArchived} aria-pressed={archived} disabled={q !== ""} className="aria-pressed:bg-accent-soft aria-pressed:text-ink" onClick={showArchived} />
        <IconButton ref={select} size="small" icon={ListChecks} label={words.shell.select} aria-pressed={picked !== null} className="aria-pressed:bg-accent-soft aria-pressed:text-ink" onClick={() => (picked ? stopPicking() : setPicked(new Set()))} />
      </div>
      <nav
        ref={box}
        aria-label={words.shell.chats}
        className="min-h-0 flex-1 overflow-y-auto px-3 pb-4"
        aria-busy={list.isFetching}
        onKeyDown={(e) => {
          if (e.key !== "Escape" || !picked) return;
          e.preventDefault(); // otherwise Escape would stop the answer as well
          stopPicking();
        }}
      >
        {list.isError && list.items.length === 0 && (
          <div role="alert" className="space-y-2 px-2 py-3 text-sm text-muted">
            <p>{errorText(list.error)}</p>
            <Button onClick={() => void list.refetch()}>{words.common.tryAgain}</Button>
          </div>
        )}
        {list.isSuccess && list.items.length === 0 && <p className="px-2 py-3 text-sm text-muted">{q ? words.shell.noMatches : archived ? words.shell.noArchived : space ? words.spaces.noChats : words.shell.noChats}</p>}
        <Virtualizer as={ListedUl} item="li" scrollRef={box} bufferSize={BUFFER}>
          {byAge(picked ? own : list.items).flatMap((group) => [
            <h3 key={group.name} className="px-2 pt-3 pb-1 text-xs font-medium text-muted">
              {group.name}
            </h3>,
            ...group.items.map((c) => <ConversationRow key={c.id} conversation={c} current={c.id === current} q={q} onOpen={onOpen} {...(picked && { picked: picked.has(c.id), onPick })} />),
          ])}
        </Virtualizer>
        <div ref={end} className="h-px" />
      </nav>
      {picked && <Selection items={own} picked={picked} archived={archived} current={current} onPick={setPicked} onOpen={onOpen} onDone={stopPicking} />}
    </>
  );
}
