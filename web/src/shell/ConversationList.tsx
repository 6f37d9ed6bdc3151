import { useEffect, useRef } from "react";
import { Virtualizer } from "virtua";
import { errorText } from "../api/query";
import { Button } from "../ui/Button";
import { ListedUl } from "../ui/Listed";
import { useMinutes } from "../ui/useMinutes";
import { words } from "../words";
import { ConversationRow } from "./ConversationRow";
import { useConversations } from "./conversations";
import { byAge } from "./groups";
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
  const list = useConversations(q);
  useMinutes();
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
    <nav ref={box} aria-label={words.shell.chats} className="min-h-0 flex-1 overflow-y-auto px-3 pb-4" aria-busy={list.isFetching}>
      {list.isError && list.items.length === 0 && (
        <div role="alert" className="space-y-2 px-2 py-3 text-sm text-muted">
          <p>{errorText(list.error)}</p>
          <Button onClick={() => void list.refetch()}>{words.common.tryAgain}</Button>
        </div>
      )}
      {list.isSuccess && list.items.length === 0 && <p className="px-2 py-3 text-sm text-muted">{q ? words.shell.noMatches : words.shell.noChats}</p>}
      <Virtualizer as={ListedUl} item="li" scrollRef={box} bufferSize={BUFFER}>
        {byAge(list.items).flatMap((group) => [
          <h2 key={group.name} className="px-2 pt-4 pb-1 text-xs font-medium text-muted">
            {group.name}
          </h2>,
          ...group.items.map((c) => <ConversationRow key={c.id} conversation={c} current={c.id === current} q={q} onOpen={onOpen} />),
        ])}
      </Virtualizer>
      <div ref={end} className="h-px" />
    </nav>
  );
}
