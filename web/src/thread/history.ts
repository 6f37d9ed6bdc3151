import { ApiError } from "../api/http";
import * as api from "./api";
import { turnOf } from "./parts";
import { apart, type Queued } from "./queue";
import type { Branches } from "./tree";
import type { Message } from "./types";

/** A conversation as the server has it, along one version. */
export interface History {
  /** The end of that version; undefined: the newest. */
  head: string | undefined;
  messages: Message[];
  /** What waits for the running turn to end. */
  queued: Queued[];
  /** The turn that runs, or asks. */
  active: string | undefined;
  branches: Branches;
  /** Older messages exist. */
  more: boolean;
}

/**
 * Reads a conversation along the version that ends with head. The newest comes in
 * its place when the server does not know that version any more, or when a turn
 * is under way elsewhere: what runs or asks is never out of sight.
 */
export async function readHistory(thread: string, head: string | undefined, signal: AbortSignal, tries = 3): Promise<History> {
  let list: api.Stretch;
  let state: api.State;
  try {
    [list, state] = await Promise.all([api.stretch(thread, head, undefined, signal), api.state(thread, signal)]);
  } catch (err) {
    if (head && unknown(err)) return readHistory(thread, undefined, signal, tries);
    throw err;
  }
  const active = state.active_turn?.turn_id;
  if (head && active && !list.messages.some((m) => turnOf(m) === active)) return readHistory(thread, undefined, signal, tries);
  if (!active && underway(list.messages.at(-1)) && tries > 1) return readHistory(thread, head, signal, tries - 1); // its turn has ended between the two answers
  return { head, ...apart(list.messages.map(tagged), active), active, branches: state.branches ?? {}, more: list.more === true };
}

/** Whether a conversation that ends so waits for an answer. */
const underway = (last: Message | undefined): boolean => last?.role === "user" || last?.metadata?.finished_reason === "interrupted";

/** Reads the messages before one of the server's. */
export async function readOlder(thread: string, head: string | undefined, before: string | undefined): Promise<{ messages: Message[]; more: boolean }> {
  const got = await api.stretch(thread, head, before, new AbortController().signal);
  return { messages: got.messages.map(tagged), more: got.more === true };
}

/** Whether the server does not know what was asked for. */
export const unknown = (err: unknown): boolean => err instanceof ApiError && (err.status === 404 || err.status === 400);

/** A message as the server has it, with the id that it knows it by: on the page it keeps the id it was first shown by. */
const tagged = (m: Message): Message => ({ ...m, metadata: { ...m.metadata, server_id: m.id } });
