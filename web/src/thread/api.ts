import { getJSON, post, request, unreachable } from "../api/http";
import type { Branches } from "./tree";
import type { Message } from "./types";

const enc = encodeURIComponent;

/** A page of messages along one branch, oldest first. */
export interface Stretch {
  messages: Message[];
  /** Whether older messages exist. */
  more?: boolean;
}

/** The state of a thread besides its messages. */
export interface State {
  messages: { turn_id: string }[] | null;
  active_turn: { turn_id: string; status: string } | null;
  branches: Branches | null;
}

export const PAGE = 200;

/** Also throws if the response is not a thread, e.g. the page of a proxy. */
export async function stretch(thread: string, head: string | undefined, before: string | undefined, signal: AbortSignal): Promise<Stretch> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(head && { head }), ...(before && { before }) });
  const got = await getJSON<Stretch>(`/api/ui/chat/${enc(thread)}?${query}`, { signal });
  if (!Array.isArray(got.messages)) throw new Error("no messages in what the server sent");
  return got;
}

export const state = (thread: string, signal: AbortSignal): Promise<State> => getJSON<State>(`/api/chat/history/${enc(thread)}?limit=1`, { signal });

export const cancel = (thread: string, which: { turn_id?: string; client_turn_id?: string }): Promise<Response> =>
  request("/api/chat/cancel", post({ thread_id: thread, ...which, reason: "user_cancelled" }));

/** Sends a message without reading its answer; the turn runs on. Returns the turn id, or throws after ms milliseconds. */
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
