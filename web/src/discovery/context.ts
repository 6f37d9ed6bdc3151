import { createContext, use } from "react";
import type { Board, Graph } from "./board";
import type { Sources } from "./Source";

/** The board that is shown, for components inside and beside it. */
export interface Shown {
  board: Board;
  graph: Graph;
  /** Scrolls to an item, focuses it and highlights it for a moment. */
  reveal(id: string): void;
  sources: Sources;
}

export const ShownBoard = createContext<Shown | null>(null);

export function useShown(): Shown {
  const shown = use(ShownBoard);
  if (!shown) throw new Error("useShown was called outside of a ShownBoard provider");
  return shown;
}
