import type { Go } from "../shell/useRoute";
import { BoardList } from "./BoardList";
import { BoardPage } from "./BoardPage";
import "./discovery.css";

/** The discovery pages: the list of boards, or one board. */
export default function Discovery({ id, onOpen }: { id: string | null; onOpen: Go }) {
  return id ? <BoardPage id={id} onOpen={onOpen} /> : <BoardList onOpen={onOpen} />;
}
