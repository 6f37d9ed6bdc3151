import type { Doc, DocSet } from "../api/types";
import { words } from "../words";
import { mentionLabel } from "../words/wire";

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
  category: Category;
  name: string;
  items: Mentionable[];
  /** There are more, which a longer query finds. */
  more: boolean;
}

/** Their labels are what the server and the model read; mentionLabel has the page's words. */
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
      .map((d): Mentionable => ({ category: "document", id: d.id, label: d.title, ...(d.status === "processing" && { note: words.composer.processing }) })),
    ...sets.map((s): Mentionable => ({ category: "set", id: s.id, label: s.name, note: words.common.documents(s.doc_ids.length) })),
    ...actions.map((a) => ({ ...a, label: mentionLabel(a) })),
    { ...web, label: mentionLabel(web), ...(!webSearch && { note: words.composer.notConfigured, disabled: true }) },
  ];
}

/** Groups of what matches every word of the query; labels that begin with it come first. What is used up is left out. */
export function groupsOf(all: readonly Mentionable[], query: string, used: ReadonlySet<Category>): Group[] {
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const start = query.trim().toLowerCase();
  const rank = (m: Mentionable) => (m.label.toLowerCase().startsWith(start) ? 0 : 1);
  const hits = all
    .filter((m) => !used.has(m.category) && parts.every((w) => m.label.toLowerCase().includes(w)))
    .sort((a, b) => rank(a) - rank(b));
  const group = (category: Category, most: number): Group => {
    const items = hits.filter((m) => m.category === category);
    return { category, name: words.composer.groups[category], items: items.slice(0, most), more: items.length > most };
  };
  return [
    group("document", MOST_DOCUMENTS),
    group("set", MOST_SETS),
    group("action", actions.length),
    group("web", 1),
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
