import { toolName, toolOf, type ToolPart } from "../../thread/parts";
import type { Message } from "../../thread/types";
import type { Board, OldMessage, Params, Proposal, Tool } from "../board";

const ADD_DOCUMENT = "add_document"; // adds an input
const tools: readonly string[] = ["add_item", "edit_item", "delete_item", ADD_DOCUMENT];

/** Whether a tool call proposes a change to the board. */
export const proposes = (part: ToolPart): boolean => tools.includes(toolName(part));

/** The ids of the proposals of an answer, in order. */
export const proposedIn = (m: Message): string[] => m.parts.flatMap((p) => {
  const tool = toolOf(p);
  return tool && proposes(tool) ? [tool.toolCallId] : [];
});

/** Whether the user can still decide. A failed proposal can be retried. */
export const isOpen = (p: Proposal): boolean => p.state === "pending" || p.state === "error";

/** The arguments of a call, to show them before the board has its proposal. A model wrote them, so wrong types are ignored. */
export function paramsOf(part: ToolPart): Params {
  const raw = (typeof part.input === "object" && part.input !== null ? part.input : {}) as Record<string, unknown>;
  const text = (name: string) => (typeof raw[name] === "string" ? { [name]: raw[name] } : {});
  return { ...text("entity_type"), ...(toolName(part) === ADD_DOCUMENT && { entity_type: "input" }), ...text("text"), ...text("output_type"), ...text("item_id"), ...text("new_text") } as Params;
}

export const toolKind = (part: ToolPart): Tool => (toolName(part) === ADD_DOCUMENT ? "add_item" : (toolName(part) as Tool));

/** The messages of the imported chat, which the board's history has before the thread's own. */
export function importedChat(history: readonly OldMessage[], messages: readonly Message[]): OldMessage[] {
  const own = new Set(messages.flatMap((m) => [m.id, m.metadata?.server_id ?? m.id]));
  const first = history.findIndex((m) => own.has(m.id));
  if (first >= 0) return history.slice(0, first);
  return messages.some((m) => m.metadata?.server_id) ? [] : [...history]; // the history keeps a limited number: newer messages have replaced the imported ones
}

/** The item of an open proposal if it has another version than when it was proposed; else undefined. */
export function changedItem(p: Proposal, board: Board) {
  if (p.tool === "add_item" || !isOpen(p) || !p.seen) return undefined;
  const item = board.items.find((i) => i.id === p.params.item_id);
  return item && item.version !== p.seen.n ? item : undefined;
}
