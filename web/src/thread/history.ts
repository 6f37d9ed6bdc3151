import { ApiError } from "../api/http";
import * as api from "./api";
import { turnOf } from "./parts";
import { splitQueued, type Queued } from "./queue";
import type { Branches } from "./tree";
import type { Message } from "./types";

/** A thread as the server has it, along one branch. */
export interface History {
  /** The last turn of that branch; undefined means the newest. */
  head: string | undefined;
  messages: Message[];
  /** Messages that wait until the running turn has ended. */
  queued: Queued[];
  /** The turn that runs or has an open question. */
  active: string | undefined;
  branches: Branches;
  /** Whether older messages exist. */
  more: boolean;
}

/**
 * Reads a thread along the branch that ends with head. It reads the newest branch
 * instead if the server no longer knows head, or if a turn is active on another
 * branch: a running turn or an open question is always visible.
 */
export async function readHistory(thread: string, head: string | undefined, signal: AbortSignal, tries = 3): Promise<History> {
  let list: api.MessagePage;
  let state: api.State;
  try {
    [list, state] = await api.readThread(thread, head, signal);
  } catch (err) {
    if (head && isUnknown(err)) return readHistory(thread, undefined, signal, tries);
    throw err;
  }
  const active = state.active_turn?.turn_id;
  if (head && active && !list.messages.some((m) => turnOf(m) === active)) return readHistory(thread, undefined, signal, tries);
  if (!active && underway(list.messages.at(-1)) && tries > 1) return readHistory(thread, head, signal, tries - 1); // the turn ended between the two responses
  return { head, ...splitQueued(list.messages.map(tagged), active), active, branches: state.branches ?? {}, more: list.more === true };
}

/** Whether a thread with this last message waits for an answer. */
const underway = (last: Message | undefined): boolean => last?.role === "user" || last?.metadata?.finished_reason === "interrupted";

/** Reads messages before the server's message id before. */
export async function readOlder(thread: string, head: string | undefined, before: string | undefined): Promise<{ messages: Message[]; more: boolean }> {
  const got = await api.readMessages(thread, head, before, new AbortController().signal);
  return { messages: got.messages.map(tagged), more: got.more === true };
}

/** Whether the error says that the server does not know the requested thread or turn. */
export const isUnknown = (err: unknown): boolean => err instanceof ApiError && (err.status === 404 || err.status === 400);

/** Adds the server's id as server_id, because the page keeps the id that it first showed a message with. */
const tagged = (m: Message): Message => ({ ...m, metadata: { ...m.metadata, server_id: m.id } });
