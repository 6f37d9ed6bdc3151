import { getJSON, post, request } from "../api/http";
import type { Branches } from "./tree";
import type { Message, Question } from "./types";

const enc = encodeURIComponent;

/** A stretch of a conversation along one branch, oldest message first. */
export interface Stretch {
  messages: Message[];
  /** Whether older messages exist. */
  more?: boolean;
}

/** What is known of a conversation beside its messages. */
export interface State {
  messages: { turn_id: string }[] | null;
  pending_interrupt: Question | null;
  active_turn: { turn_id: string; status: string } | null;
  branches: Branches | null;
}

export const PAGE = 200;

export function stretch(thread: string, head: string | undefined, before: string | undefined, signal: AbortSignal): Promise<Stretch> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(head && { head }), ...(before && { before }) });
  return getJSON<Stretch>(`/api/ui/chat/${enc(thread)}?${query}`, { signal });
}

export const state = (thread: string, signal: AbortSignal): Promise<State> => getJSON<State>(`/api/chat/history/${enc(thread)}?limit=1`, { signal });

export const cancel = (thread: string, which: { turn_id?: string; client_turn_id?: string }): Promise<Response> =>
  request("/api/chat/cancel", post({ thread_id: thread, ...which, reason: "user_cancelled" }));

/** Hands a message to the server without waiting for its answer; the turn goes on by itself. */
export async function leave(body: object): Promise<string | undefined> {
  const ctl = new AbortController();
  const res = await request("/api/ui/chat", { ...post(body), signal: ctl.signal });
  const turn = res.headers.get("X-Turn-Id") ?? undefined;
  ctl.abort();
  return turn;
}
