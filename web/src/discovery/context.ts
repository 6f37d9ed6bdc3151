import { createContext, use } from "react";
import type { Board, Graph } from "./board";
import type { Sources } from "./Source";

/** The board that is shown, for what stands beside it. */
export interface Shown {
  board: Board;
  graph: Graph;
  /** Scrolls to an item and marks it for a moment. */
  reveal(id: string): void;
  sources: Sources;
}

export const ShownBoard = createContext<Shown | null>(null);

export function useShown(): Shown {
  const shown = use(ShownBoard);
  if (!shown) throw new Error("useShown: outside of a board");
  return shown;
}
