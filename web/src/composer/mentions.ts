import type { Doc, DocSet } from "../api/types";

export type Category = "document" | "set" | "action" | "web";

/** Something that can stand behind an "@". */
export interface Mentionable {
  category: Category;
  id: string;
  label: string;
  /** Said beside it. */
  note?: string;
  /** It is shown, and cannot be picked. */
  disabled?: boolean;
}

export interface Group {
  name: string;
  items: Mentionable[];
  /** There are more, which a longer query finds. */
  more: boolean;
}

export const actions: readonly Mentionable[] = [
  { category: "action", id: "summarize", label: "Summarize" },
  { category: "action", id: "inquire", label: "Inquire" },
  { category: "action", id: "compare", label: "Compare" },
  { category: "action", id: "audit", label: "Audit" },
];

export const web: Mentionable = { category: "web", id: "web_search", label: "Web search" };

const MOST_DOCUMENTS = 6;
const MOST_SETS = 4;

/** Everything that may be mentioned, before a query narrows it down. */
export function mentionables(docs: readonly Doc[], sets: readonly DocSet[], webSearch: boolean): Mentionable[] {
  return [
    ...docs
      .filter((d) => d.status !== "failed")
      .map((d): Mentionable => ({ category: "document", id: d.id, label: d.title, ...(d.status === "processing" && { note: "processing" }) })),
    ...sets.map((s): Mentionable => ({ category: "set", id: s.id, label: s.name, note: count(s.doc_ids.length) })),
    ...actions,
    { ...web, ...(!webSearch && { note: "not configured", disabled: true }) },
  ];
}

const count = (n: number) => `${n} document${n === 1 ? "" : "s"}`;

/** Groups of what matches every word of the query; labels that begin with it come first. What is used up is left out. */
export function groupsOf(all: readonly Mentionable[], query: string, used: ReadonlySet<Category>): Group[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const start = query.trim().toLowerCase();
  const rank = (m: Mentionable) => (m.label.toLowerCase().startsWith(start) ? 0 : 1);
  const hits = all
    .filter((m) => !used.has(m.category) && words.every((w) => m.label.toLowerCase().includes(w)))
    .sort((a, b) => rank(a) - rank(b));
  const group = (name: string, category: Category, most: number): Group => {
    const items = hits.filter((m) => m.category === category);
    return { name, items: items.slice(0, most), more: items.length > most };
  };
  return [
    group("Documents", "document", MOST_DOCUMENTS),
    group("Sets", "set", MOST_SETS),
    group("Actions", "action", actions.length),
    group("Web", "web", 1),
  ].filter((g) => g.items.length > 0);
}

/** The next or the previous item that can be picked, round the ends; -1 when there is none. */
export function step(items: readonly Mentionable[], from: number, by: 1 | -1): number {
  for (let n = 1; n <= items.length; n++) {
    const at = (from + by * n + items.length * 2) % items.length;
    if (!items[at]!.disabled) return at;
  }
  return -1;
}
