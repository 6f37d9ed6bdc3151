import { newId } from "../lib/id";
import { local } from "../lib/storage";

const KEY = "palaver.chat.new";

/** The id that the next new chat of this browser will have. What is attached to its first message belongs to it already. */
export function nextChat(): string {
  const known = local.read(KEY);
  if (known) return known;
  const id = newId();
  local.write(KEY, id);
  return id;
}

/** The id for a chat that begins now; the chat after it gets another one. */
export function beginChat(): string {
  const id = nextChat();
  local.write(KEY, null);
  return id;
}

/** Gives the next new chat the id of one whose first message was not sent. */
export const returnChat = (id: string): void => local.write(KEY, id);
