import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError, getJSON, post, request } from "../api/http";
import { errorText, queries, refresh } from "../api/query";
import { useSpaceId } from "../api/space";
import { boardWords } from "../words/discovery";
import { readBoard, type Board, type Kind, type Params, type ProposalState } from "./board";

const LIST = ["discoveries", "list"];
const enc = encodeURIComponent;

export const boardPath = (id: string) => `/api/discoveries/${enc(id)}`;

export interface Listed {
  id: string;
  title: string;
  items: number;
  updated_at: string;
}

/** The boards, page by page. */
export function useBoards() {
  const list = useInfiniteQuery({
    queryKey: [...LIST, useSpaceId()],
    queryFn: ({ pageParam, signal }) => getJSON<{ items: Listed[] | null; next_cursor?: string }>(`/api/discoveries?cursor=${enc(pageParam)}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor,
  });
  return { ...list, items: list.data?.pages.flatMap((p) => p.items ?? []) ?? [] };
}

export const refreshBoards = (): Promise<void> => refresh(LIST);

const oneKey = (id: string) => ["discoveries", "one", id];

/** One board. It is refetched whenever the window gets the focus, because another window may have changed it. */
export function useBoard(id: string) {
  const query = useQuery({ queryKey: oneKey(id), queryFn: async ({ signal }) => readBoard(await getJSON(boardPath(id), { signal })), staleTime: 0, refetchOnWindowFocus: "always" });
  useEffect(() => {
    const again = () => void refreshBoard(id);
    window.addEventListener("focus", again); // TanStack Query only refetches when the page becomes visible; windows side by side always are
    return () => window.removeEventListener("focus", again);
  }, [id]);
  return query;
}

export const refreshBoard = (id: string): Promise<void> => refresh(oneKey(id));

/** The board in the cache; undefined if it is not loaded. */
export const knownBoard = (id: string): Board | undefined => queries.getQueryData<Board>(oneKey(id));

/** Creates a board from the JSON text of an exported file. */
export async function createBoard(file: string): Promise<{ id: string; title: string }> {
  const res = await request("/api/discoveries", { ...post({}), body: file });
  await refreshBoards();
  return (await res.json()) as { id: string; title: string };
}

export async function deleteBoard(id: string): Promise<void> {
  await request(boardPath(id), { method: "DELETE" });
  await refreshBoards();
}

export async function restoreBoard(id: string): Promise<void> {
  await request(`${boardPath(id)}/restore`, { method: "POST" });
  await refreshBoards();
}

const patch = (body: unknown): RequestInit => ({ ...post(body), method: "PATCH" });

export async function renameBoard(id: string, title: string, goal: string): Promise<void> {
  await request(boardPath(id), patch({ title, goal }));
  await Promise.all([refreshBoard(id), refreshBoards()]);
}

/** The response to a change. impact is the number of downstream items that may be out of date now. */
export interface Done {
  change: number;
  items: Record<string, unknown>[];
  deleted: string[];
  impact: number;
  revision: number;
}

/** Sends a change of a board, then refetches the board. It refetches after an error too, because the board may then have been changed elsewhere. */
async function change<T = Done>(id: string, path: string, init: RequestInit): Promise<T> {
  try {
    const res = await request(`${boardPath(id)}${path}`, init);
    return (await res.json()) as T;
  } finally {
    await refreshBoard(id);
  }
}

export interface NewItem {
  entity_type: Kind;
  text: string;
  title?: string;
  type?: string;
  status?: string;
  related_ids?: string[];
  document_id?: string;
}

export const addItem = (id: string, item: NewItem, allowSimilar: boolean): Promise<Done> => change(id, "/items", post({ ...item, ...(allowSimilar && { allow_similar: true }) }));

export interface ItemChange {
  text?: string;
  title?: string;
  type?: string;
  status?: string;
  related_ids?: string[];
  stale?: false;
}

/** Edits an item. With a revision, the server rejects the change (412) if the board has another revision by now. */
export const editItem = (id: string, item: string, fields: ItemChange, revision?: number): Promise<Done> =>
  change(id, `/items/${enc(item)}`, { ...patch(fields), headers: { "Content-Type": "application/json", ...(revision !== undefined && { "If-Match": `"${revision}"` }) } });

export const deleteItem = (id: string, item: string): Promise<Done> => change(id, `/items/${enc(item)}`, { method: "DELETE" });

export const undo = (id: string, n: number): Promise<Done> => change(id, `/changes/${n}/undo`, { method: "POST" });

export interface Decision {
  decision: "confirm" | "cancel";
  params?: Params;
  allow_similar?: true;
  overwrite?: true;
}

export const decide = (id: string, proposal: string, decision: Decision): Promise<Done & { status: ProposalState }> => change(id, `/actions/${enc(proposal)}`, post(decision));

/** The id of the first item that a change affected; "" if there is none. In the response, the name of the id field depends on the kind of the item. */
export function changedId(done: Done): string {
  const first = done.items[0] ?? {};
  const field = ["input_id", "fact_id", "insight_id", "recommendation_id", "output_id"].find((name) => typeof first[name] === "string");
  return field ? String(first[field]) : (done.deleted[0] ?? "");
}

/** The page's text for a rejected change of a board. */
export function problemText(err: unknown): string {
  const known: Readonly<Record<string, string>> = boardWords.errors;
  return (err instanceof ApiError && known[err.code]) || errorText(err);
}

export const codeOf = (err: unknown): string => (err instanceof ApiError ? err.code : "");

/** The ids of the similar items for which the server rejected a change; empty for other errors. */
export const similarIn = (err: unknown): string[] => (err instanceof ApiError && err.code === "similar_items" ? err.details.map((d) => d.field) : []);
