import { getJSON, post, request, unreachable } from "../api/http";
import { currentSpace, forSpace } from "../api/space";
import { readHead } from "./heads";
import type { Branches } from "./tree";
import type { Message } from "./types";

const enc = encodeURIComponent;

/** A page of messages along one branch, oldest first. */
export interface MessagePage {
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

/** Reads the page of messages before the message id before; without it, the newest page. It also throws if the response is not a thread, e.g. the page of a proxy. */
export async function readMessages(thread: string, head: string | undefined, before: string | undefined, signal: AbortSignal): Promise<MessagePage> {
  const query = new URLSearchParams({ limit: String(PAGE), ...(head && { head }), ...(before && { before }) });
  const got = await getJSON<MessagePage>(`/api/ui/chat/${enc(thread)}?${query}`, { signal });
  if (!Array.isArray(got.messages)) throw new Error("the response has no messages");
  return got;
}

export const state = (thread: string, signal: AbortSignal): Promise<State> => getJSON<State>(`/api/chat/history/${enc(thread)}?limit=1`, { signal });

type Read = Promise<[MessagePage, State]>;
let ahead: { thread: string; head: string | undefined; read: Read } | undefined;

const both = (thread: string, head: string | undefined, signal: AbortSignal): Read => Promise.all([readMessages(thread, head, undefined, signal), state(thread, signal)]);

/** Begins to read a thread before the code that shows it is loaded. */
export function readAhead(thread: string): void {
  const head = readHead(thread);
  ahead = { thread, head, read: both(thread, head, new AbortController().signal) };
  ahead.read.catch(() => {}); // the reader is told
}

/** Reads the newest page of a thread, and its state. What was read ahead is used once. */
export function readThread(thread: string, head: string | undefined, signal: AbortSignal): Read {
  const begun = ahead;
  ahead = undefined;
  return begun?.thread === thread && begun.head === head ? begun.read : both(thread, head, signal);
}

export const cancel = (thread: string, which: { turn_id?: string; client_turn_id?: string }): Promise<Response> =>
  request("/api/chat/cancel", post({ thread_id: thread, ...which, reason: "user_cancelled" }));

/** Sends a message without reading its answer. The turn continues on the server. Returns the turn id, or throws after ms milliseconds. */
export const sendOnly = (body: object, ms = 30_000): Promise<string | undefined> => startOnly("/api/ui/chat", body, ms);

/** Skips an open question, because the person has gone on in another conversation. */
export const skipQuestion = (thread: string, interrupt: string, space: string): Promise<unknown> =>
  startOnly("/api/chat/resume", { thread_id: thread, interrupt_id: interrupt, resume_value: { type: "cancel", value: "superseded" } }, undefined, space);

/** Starts a stream without reading it. */
async function startOnly(path: string, body: object, ms = 30_000, space = currentSpace()): Promise<string | undefined> {
  const ctl = new AbortController();
  const timer = setTimeout(() => ctl.abort(unreachable()), ms);
  try {
    const asked = post(body);
    const res = await request(path, { ...asked, headers: forSpace(space, asked.headers), signal: ctl.signal });
    return res.headers.get("X-Turn-Id") ?? undefined;
  } finally {
    clearTimeout(timer);
    ctl.abort();
  }
}
