import { newIn } from "../api/space";
import { newId } from "../lib/id";
import { local } from "../lib/storage";

const key = () => newIn("palaver.chat.new");

/** An id that nothing has used yet. It is stored with the first thing that belongs to it. */
let fresh: string | null = null;

/** The id that the next new chat of this browser will have. What is attached to its first message belongs to it already. */
export const nextChat = (): string => local.read(key()) ?? (fresh ??= newId());

/** Whether nothing can belong to a chat yet. */
export const isFresh = (id: string): boolean => id === fresh;

/** The id of a chat to which something is added now. */
export function keepChat(id: string): string {
  if (!isFresh(id)) return id;
  const kept = nextChat(); // another tab may have stored one
  fresh = null;
  local.write(key(), kept);
  return kept;
}

/** The id for a chat that begins now; the chat after it gets another one. */
export function beginChat(): string {
  const id = nextChat();
  fresh = null;
  local.write(key(), null);
  return id;
}

/** Gives the next new chat the id of one whose first message was not sent. */
export const returnChat = (id: string): void => local.write(key(), id);
