// The data of a board, and functions on it that need no server.

import type { Coded } from "../api/coded";
import type { Mentionable } from "../composer/mentions";
import { short } from "../lib/format";
import { boardWords } from "../words/discovery";

export const kinds = ["input", "fact", "insight", "recommendation", "output"] as const;
export type Kind = (typeof kinds)[number];

export const outputTypes = ["report", "presentation", "action_plan", "brief"] as const;

/** The maximum length of the text of an item, in characters. */
export const MAX_TEXT = 8000;

export type Author = "person" | "assistant" | "import";

export interface Version {
  version: number;
  text: string;
  by: Author;
  at: string;
  /** The id of the person, of an earlier version on a board of a space. */
  by_id?: string;
}

/** The passage of a document that an item cites. */
export interface Cited {
  document_id: string;
  title?: string;
  chunk_id?: string;
  quote: string;
  start: number;
  end: number;
}

export interface Item extends Version {
  id: string;
  kind: Kind;
  title: string;
  type: string;
  status: string;
  /** The id of who has written it, on a board of a space; else empty. */
  who: string;
  related: string[];
  stale: boolean;
  staleBecause: string[];
  /** The document that an input was made from; empty if there is none. */
  documentId: string;
  cited?: Cited;
  /** Oldest first. */
  earlier: Version[];
}

/** A change that can be undone. */
export interface Change {
  n: number;
  did: "add" | "edit" | "delete";
  at: string;
  /** The id of the person, on a board of a space. */
  who?: string;
  item: { id: string };
}

export interface Params {
  entity_type?: Kind;
  text?: string;
  related_ids?: string[];
  output_type?: string;
  title?: string;
  item_id?: string;
  new_text?: string;
  document_id?: string;
  citation?: Cited;
}

export type Tool = "add_item" | "edit_item" | "delete_item";
export type ProposalState = "pending" | "applied" | "cancelled" | "error" | "overtaken";

/** A change that the assistant suggests. Its id is that of the tool call. */
export interface Proposal extends Coded {
  id: string;
  tool: Tool;
  params: Params;
  state: ProposalState;
  reason?: string;
  /** The version (n) and the text of the item when the change was proposed. */
  seen?: { n: number; text: string };
  result?: { change?: number; items?: string[] };
}

export interface OldMessage {
  id: string;
  role: "user" | "assistant";
  content: string;
}

export interface Board {
  id: string;
  title: string;
  goal: string;
  revision: number;
  /** The thread of the chat about this board. */
  threadId: string;
  /** Ordered by column, then by number. */
  items: Item[];
  changes: Change[];
  proposals: Proposal[];
  /** The chat that an imported board file contained. */
  history: OldMessage[];
}

type Raw = Record<string, unknown>;
const str = (v: unknown): string => (typeof v === "string" ? v : "");
const list = <T>(v: unknown): T[] => (Array.isArray(v) ? (v as T[]) : []);
const num = (v: unknown): number => (typeof v === "number" ? v : 0);

const columnOf: Record<Kind, string> = { input: "inputs", fact: "facts", insight: "insights", recommendation: "recommendations", output: "outputs" };

/** The kind that items of this kind build on; undefined for inputs. */
export const before = (kind: Kind): Kind | undefined => kinds[kinds.indexOf(kind) - 1];

/** Checks the shape, because the file of another program may contain anything. */
const isCited = (v: unknown): v is Cited => typeof v === "object" && v !== null && typeof (v as Cited).document_id === "string" && typeof (v as Cited).quote === "string";

export function readItem(kind: Kind, raw: Raw): Item {
  const source = before(kind);
  return {
    id: str(raw[`${kind}_id`]),
    kind,
    title: str(raw.title),
    type: str(raw.type),
    text: str(raw.text),
    status: str(raw.status),
    related: source ? list<string>(raw[`related_${columnOf[source]}`]) : [],
    stale: raw.stale === true,
    staleBecause: list(raw.stale_because),
    documentId: kind === "input" ? str(raw.document_id) : "",
    ...(isCited(raw.citation) && { cited: raw.citation }),
    version: num(raw.version),
    by: str(raw.changed_by) as Author,
    at: str(raw.changed_at),
    who: str(raw.changed_by_id),
    earlier: list(raw.earlier_versions),
  };
}

export const readBoard = (raw: Raw): Board => ({
  id: str(raw.id),
  title: str(raw.title),
  goal: str(raw.goal),
  revision: num(raw.revision),
  threadId: str(raw.thread_id),
  items: kinds.flatMap((kind) => list<Raw>(raw[columnOf[kind]]).map((item) => readItem(kind, item))),
  changes: list(raw.changes),
  proposals: list(raw.proposals),
  history: list(raw.chat_history),
});

/** The relations of the items: which item builds on which. */
export class Graph {
  private readonly byId: ReadonlyMap<string, Item>;
  private readonly users = new Map<string, string[]>();

  constructor(items: readonly Item[]) {
    this.byId = new Map(items.map((item) => [item.id, item]));
    for (const item of items) for (const id of item.related) this.users.set(id, [...(this.users.get(id) ?? []), item.id]);
  }

  find(id: string): Item | undefined {
    return this.byId.get(id);
  }

  /** How many items build directly on this one. */
  uses(id: string): number {
    return this.users.get(id)?.length ?? 0;
  }

  /** The ids of all items that this one builds on, directly or indirectly. */
  up(id: string): Set<string> {
    return reach(id, (at) => this.byId.get(at)?.related ?? []);
  }

  /** The ids of all items that build on this one, directly or indirectly. */
  down(id: string): Set<string> {
    return reach(id, (at) => this.users.get(at) ?? []);
  }
}

function reach(from: string, next: (id: string) => readonly string[]): Set<string> {
  const reached = new Set<string>();
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const id of next(at)) {
      if (reached.has(id)) continue;
      reached.add(id);
      open.push(id);
    }
  }
  return reached;
}

/** Which items to show: "all", "stale", "unconnected", or "status:" followed by a status. */
export type Filter = string;

export const statusesOf = (items: readonly Item[]): string[] => [...new Set(items.map((i) => i.status).filter(Boolean))].sort();

/** Whether an item builds on nothing, or nothing builds on it. Inputs build on nothing, and nothing builds on outputs: this does not count. */
export const unconnected = (item: Item, graph: Graph): boolean => (item.kind !== "input" && item.related.length === 0) || (item.kind !== "output" && graph.uses(item.id) === 0);

/** The items that match a search and a filter. */
export function matching(items: readonly Item[], graph: Graph, query: string, filter: Filter): Item[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const passes = (item: Item): boolean => {
    if (filter === "stale") return item.stale;
    if (filter === "unconnected") return unconnected(item, graph);
    return !filter.startsWith("status:") || item.status === filter.slice("status:".length);
  };
  return items.filter((item) => {
    if (!passes(item)) return false;
    const text = `${item.id} ${item.title} ${item.text}`.toLowerCase();
    return parts.every((p) => text.includes(p));
  });
}

/** The items as mentions for the composer, grouped by column. */
export const mentionsOfItems = (items: readonly Item[]): Mentionable[] =>
  items.map((item) => ({ category: "item", id: item.id, label: item.id, detail: short(item.title || item.text), group: boardWords.columns[item.kind] }));

/** The id of the item that a key moves to: up and down in its column, left and right to the same row of the next column that is not empty. undefined if the key moves nowhere. */
export function neighbour(columns: readonly (readonly Item[])[], id: string, key: string): string | undefined {
  const c = columns.findIndex((column) => column.some((i) => i.id === id));
  const column = columns[c];
  if (!column) return undefined;
  const row = column.findIndex((i) => i.id === id);
  if (key === "ArrowDown") return column[row + 1]?.id;
  if (key === "ArrowUp") return column[row - 1]?.id;
  if (key === "Home") return column[0]?.id;
  if (key === "End") return column.at(-1)?.id;
  const by = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  if (by === 0) return undefined;
  for (let at = c + by; at >= 0 && at < columns.length; at += by) {
    const next = columns[at]!;
    if (next.length > 0) return next[Math.min(row, next.length - 1)]!.id;
  }
  return undefined;
}
