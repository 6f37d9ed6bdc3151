import { createContext, type ComponentType, type ReactNode } from "react";
import type { ToolPart } from "./parts";
import type { Message } from "./types";

/** What a thread's answers show besides the usual, where the thread stands beside something that they are about. */
export interface Extras {
  /** A card of its own for a tool call; null: the usual one. */
  card(part: ToolPart, over: boolean): ReactNode | null;
  /** What stands under an answer. */
  foot(message: Message): ReactNode;
  /** The id of an item, in an answer or a message. */
  Reference: ComponentType<{ id: string }>;
}

export const Extras = createContext<Extras | null>(null);
