import { getJSON, post, request, unreachable } from "../api/http";
import type { Branches } from "./tree";
import type { Message } from "./types";

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
  active_turn: { turn_id: string; status: string } | null;
  branches: Branches | null;
}

export const PAGE = 200;

/** Fails also when what comes is no conversation: a proxy's page, another program's answer. */
export async function stretch(thread: string, head: string | undefined, before: string | undefined, signal: AbortSignal): Promise<Stretch> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(head && { head }), ...(before && { before }) });
  const got = await getJSON<Stretch>(`/api/ui/chat/${enc(thread)}?${query}`, { signal });
  if (!Array.isArray(got.messages)) throw new Error("no messages in what the server sent");
  return got;
}

export const state = (thread: string, signal: AbortSignal): Promise<State> => getJSON<State>(`/api/chat/history/${enc(thread)}?limit=1`, { signal });

export const cancel = (thread: string, which: { turn_id?: string; client_turn_id?: string }): Promise<Response> =>
  request("/api/chat/cancel", post({ thread_id: thread, ...which, reason: "user_cancelled" }));

/** Hands a message to the server without waiting for its answer; the turn goes on by itself. Returns its id, or fails after so many ms. */
export async function leave(body: object, ms = 30_000): Promise<string | undefined> {
  const ctl = new AbortController();
  const timer = setTimeout(() => ctl.abort(unreachable()), ms);
  try {
    const res = await request("/api/ui/chat", { ...post(body), signal: ctl.signal });
    return res.headers.get("X-Turn-Id") ?? undefined;
  } finally {
    clearTimeout(timer);
    ctl.abort();
  }
}
