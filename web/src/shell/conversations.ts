import { useMemo } from "react";
import { keepPreviousData, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh, errorText } from "../api/query";
import { currentSpace, useSpaceId } from "../api/space";
import type { Conversation, Page } from "../api/types";
import { short } from "../lib/format";
import { readHead } from "../thread/heads";
import type { Sharing } from "../thread/sharing";
import { deleteLater, useDeleted } from "../ui/deletions";
import { toast } from "../ui/toast";
import { words } from "../words";
import { pendingOf } from "./pending";

const KEY = ["conversations"];
const PAGE = 100;
const BUSY_MS = 4_000;
const enc = encodeURIComponent;

const path = (id: string) => `/api/conversations/${enc(id)}`;

/** The conversations that match a search ("" matches all that are not archived), or the archived ones, newest first, paged. */
export function useConversations(q: string, archived = false) {
  const deleted = useDeleted();
  const list = useInfiniteQuery({
    queryKey: [...KEY, useSpaceId(), archived ? "archived" : "list", q],
    queryFn: ({ pageParam, signal }) => getJSON<Page<Conversation>>(`/api/conversations?limit=${PAGE}&q=${enc(q)}&archived=${archived && q === ""}&cursor=${enc(pageParam)}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
    placeholderData: keepPreviousData,
    // Other tabs may change the list as well.
    refetchInterval: (query) => (query.state.data?.pages[0]?.items?.some((c) => c.status === "running") ? BUSY_MS : false),
  });
  const items = list.data?.pages.flatMap((p) => p.items ?? []) ?? [];
  return { ...list, items: items.filter((c) => !deleted.has(path(c.id))) };
}

/** Query for one conversation on the server. */
export const oneConversation = (id: string) => queryOptions({ queryKey: [...KEY, currentSpace(), "one", id], queryFn: ({ signal }) => getJSON<Conversation>(path(id), { signal }) });

/**
 * One conversation; null if it is not loaded, or if the server does not have it. A new
 * conversation exists on the server once its first message was accepted; it is then
 * also in the list.
 */
export function useConversation(id: string | null): Conversation | null {
  const list = useConversations("");
  const listed = list.items.find((c) => c.id === id);
  const { data } = useQuery({ ...oneConversation(id ?? ""), enabled: id !== null && list.isSuccess && !listed && !pendingOf(id) });
  return listed ?? data ?? null;
}

/** With whom the page's conversation is shared: undefined while that is not known, or outside of spaces. */
export function useSharing(id: string, isNew: boolean): { ready: boolean; sharing?: Sharing } {
  const space = useSpaceId();
  const listed = useConversations("").items.find((c) => c.id === id);
  const one = useQuery({ ...oneConversation(id), enabled: space !== "" && !isNew, retry: false });
  const c = listed ?? one.data;
  const { shared = false, author } = c ?? {};
  const changed = c?.last_message_at;
  const sharing = useMemo(() => ({ shared, ...(author && { author }), ...(changed && { changed }) }), [shared, author, changed]);
  return space === "" ? { ready: true } : { ready: isNew || c !== undefined || !one.isPending, sharing };
}

/** Call it when a turn starts, pauses or ends: the title, order, state and documents may have changed. */
export const refreshConversations = (): Promise<void> => refresh(KEY);

export const titleOf = (c: Conversation | null): string => c?.title || words.shell.newChat;

interface Change {
  title?: string;
  pinned?: boolean;
  archived?: boolean;
  /** Whether the readers of its space can read it. */
  shared?: boolean;
}

/** Changes a conversation. Returns whether it worked; an error is shown. */
export async function changeConversation(id: string, change: Change): Promise<boolean> {
  let done = true;
  try {
    await request(path(id), { ...post(change), method: "PATCH" });
  } catch (err) {
    toast.error(errorText(err));
    done = false;
  }
  await refreshConversations();
  return done;
}

/** Archives a conversation, or takes it out of the archive. Returns whether it worked; the notice offers to undo it. */
export async function archiveConversation(c: Conversation): Promise<boolean> {
  if (!(await changeConversation(c.id, { archived: !c.archived }))) return false;
  if (!c.archived) toast(words.shell.wasArchived(short(titleOf(c), 40)), { action: { label: words.common.undo, onClick: () => void changeConversation(c.id, c.pinned ? { pinned: true } : { archived: false }) } }); // archiving has unpinned it
  return true;
}

/** Deletes a conversation when the notice closes. */
export function deleteConversation(c: Conversation, onUndo: () => void): void {
  deleteLater({
    path: path(c.id),
    text: words.common.deleted(short(titleOf(c), 40)),
    onUndo,
    onDeleted: () => void refreshConversations(),
  });
}

/** Shares a conversation with the readers of its space, or ends that. */
export async function shareInSpace(id: string, shared: boolean): Promise<void> {
  if (await changeConversation(id, { shared })) toast(shared ? words.spaces.nowShared : words.spaces.notShared);
}

/** Copies a branch of a conversation that somebody else shares. Returns the id of the copy. */
export async function copyConversation(id: string, head: string | undefined): Promise<string> {
  const made = await getJSON<Conversation>(`${path(id)}/branch`, post({ ...(head && { head }) }));
  await refreshConversations();
  return made.id;
}

const BATCH = "/api/batch/conversations";
type Batch = { done: string[] | null; failed: { id: string; message: string }[] | null };

/** Archives several conversations, or takes them out of the archive, with one notice. Its undo pins again what was pinned. */
export async function archiveSeveral(list: readonly Conversation[], archived: boolean): Promise<void> {
  try {
    const { done, failed } = await getJSON<Batch>(BATCH, post({ action: archived ? "archive" : "unarchive", ids: list.map((c) => c.id) }));
    const changed = done ?? [];
    if (changed.length > 0) {
      const text = archived ? words.shell.severalArchived(changed.length) : words.shell.severalUnarchived(changed.length);
      const pinned = changed.filter((id) => list.some((c) => c.id === id && c.pinned));
      toast(text, { action: { label: words.common.undo, onClick: () => void archiveAgain(changed, !archived, pinned) } });
    }
    toastFailures(failed);
  } catch (err) {
    toast.error(errorText(err));
  }
  await refreshConversations();
}

async function archiveAgain(ids: readonly string[], archived: boolean, pinned: readonly string[]): Promise<void> {
  try {
    toastFailures((await getJSON<Batch>(BATCH, post({ action: archived ? "archive" : "unarchive", ids }))).failed);
    for (const id of pinned) await request(path(id), { ...post({ pinned: true }), method: "PATCH" });
  } catch (err) {
    toast.error(errorText(err));
  }
  await refreshConversations();
}

const toastFailures = (failed: Batch["failed"]) => failed?.[0] && toast.error(words.shell.severalFailed(failed.length, failed[0].message));

/** Deletes several conversations when the notice closes. */
export function deleteSeveral(ids: readonly string[], onUndo: () => void): void {
  deleteLater({
    path: BATCH,
    init: post({ action: "delete", ids }),
    hides: ids.map(path),
    left: async (res) => {
      const { failed } = (await res.json()) as Batch;
      toastFailures(failed);
      return (failed ?? []).map((f) => path(f.id));
    },
    text: words.shell.severalDeleted(ids.length),
    onUndo,
    onDeleted: () => void refreshConversations(),
  });
}

export const conversationPath = path;

/** The page that prints the branch of a conversation that this tab shows. */
export function printPath(id: string): string {
  const head = readHead(id);
  const query = new URLSearchParams({ ...(head && { head }), ...(currentSpace() && { space: currentSpace() }) });
  return `/print/${enc(id)}${query.size > 0 ? `?${query}` : ""}`;
}
