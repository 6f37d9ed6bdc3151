import { createContext, type ComponentType, type ReactNode } from "react";
import type { ToolPart } from "./parts";
import type { Message } from "./types";

/** What answers show in addition when their thread is shown beside its subject, e.g. a board. */
export interface Extras {
  /** A custom card for a tool call; null means the default one. */
  card(part: ToolPart, over: boolean): ReactNode | null;
  /** Content below an answer. */
  foot(message: Message): ReactNode;
  /** Shows the id of an item in an answer or a message. */
  Reference: ComponentType<{ id: string }>;
}

export const Extras = createContext<Extras | null>(null);
