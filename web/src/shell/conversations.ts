import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh, errorText } from "../api/query";
import type { Conversation, Page } from "../api/types";
import { useDeleted } from "../ui/deletions";
import { toast } from "../ui/toast";
import { pendingOf } from "./pending";

const KEY = ["conversations"];
const PAGE = 100;
const BUSY_MS = 4_000;
const enc = encodeURIComponent;

const path = (id: string) => `/api/conversations/${enc(id)}`;

/** The conversations that match a search ("" matches all), newest first, paged. */
export function useConversations(q: string) {
  const deleted = useDeleted();
  const list = useInfiniteQuery({
    queryKey: [...KEY, "list", q],
    queryFn: ({ pageParam, signal }) => getJSON<Page<Conversation>>(`/api/conversations?limit=${PAGE}&q=${enc(q)}&cursor=${enc(pageParam)}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    // Other tabs may change the list as well.
    refetchInterval: (query) => (query.state.data?.pages[0]?.items?.some((c) => c.status === "running") ? BUSY_MS : false),
  });
  const items = list.data?.pages.flatMap((p) => p.items ?? []) ?? [];
  return { ...list, items: items.filter((c) => !deleted.has(path(c.id))) };
}

/** One conversation, as the server has it. */
export const oneConversation = (id: string) => queryOptions({ queryKey: [...KEY, "one", id], queryFn: ({ signal }) => getJSON<Conversation>(path(id), { signal }) });

/**
 * One conversation; null when the server has none with that id. A conversation that
 * the welcome page has just begun exists once its first message was accepted, and is
 * then in the list.
 */
export function useConversation(id: string | null): Conversation | null {
  const list = useConversations("");
  const listed = list.items.find((c) => c.id === id);
  const { data } = useQuery({ ...oneConversation(id ?? ""), enabled: id !== null && list.isSuccess && !listed && !pendingOf(id) });
  return listed ?? data ?? null;
}

/** Call it when a turn starts, pauses or ends: the title, order, state and documents may have changed. */
export const refreshConversations = (): Promise<void> => refresh(KEY);

export async function rename(id: string, title: string): Promise<void> {
  try {
    await request(path(id), { ...post({ title }), method: "PATCH" });
  } catch (err) {
    toast.error(errorText(err));
  }
  await refreshConversations();
}

export const conversationPath = path;
