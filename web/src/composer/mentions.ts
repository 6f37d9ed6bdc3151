import type { Doc, DocSet } from "../api/types";
import { words } from "../words";
import { mentionLabel } from "./labels";
import { nameOf } from "../documents/names";

/** The kinds of mentions. An item belongs to a discovery board. */
export type Category = "document" | "set" | "action" | "web" | "item";

/** Something that can be mentioned with "@". */
export interface Mentionable {
  category: Category;
  id: string;
  label: string;
  /** Its group, if its category has several. */
  group?: string;
  /** Its text, shown after its label. The search includes it. */
  detail?: string;
  /** Another name that the search includes, e.g. the file name. */
  alias?: string;
  /** Text beside it. */
  note?: string;
  /** Whether it is shown but cannot be picked. */
  disabled?: boolean;
}

export interface Group {
  category: Category;
  name: string;
  items: Mentionable[];
  /** Whether the group has more entries, which a longer query finds. */
  more: boolean;
}

/** The server and the model read these labels; mentionLabel returns the page's. */
export const actions: readonly Mentionable[] = [
  { category: "action", id: "summarize", label: "Summarize" },
  { category: "action", id: "inquire", label: "Inquire" },
  { category: "action", id: "compare", label: "Compare" },
  { category: "action", id: "audit", label: "Audit" },
];

export const web: Mentionable = { category: "web", id: "web_search", label: "Web search" };

const MOST: Record<Category, number> = { document: 6, set: 4, action: actions.length, web: 1, item: 6 };

const documents = (docs: readonly Doc[]): Mentionable[] =>
  docs.filter((d) => d.status !== "failed").map((d) => ({ category: "document", id: d.id, label: nameOf(d), ...((d.name || d.other_names) && { alias: [d.name, ...(d.other_names ?? [])].join(" ") }), ...(d.status === "processing" && { note: words.composer.processing }) }));

/** Everything that can be mentioned on a board: items, then documents. */
export const mentionablesWith = (items: readonly Mentionable[], docs: readonly Doc[]): Mentionable[] => [...items, ...documents(docs)];

/** Everything that can be mentioned, before the query filters it. */
export function mentionables(docs: readonly Doc[], sets: readonly DocSet[], webSearch: boolean): Mentionable[] {
  return [
    ...documents(docs),
    ...sets.map((s): Mentionable => ({ category: "set", id: s.id, label: s.name, note: words.common.documents(s.doc_ids.length) })),
    ...actions.map((a) => ({ ...a, label: mentionLabel(a) })),
    { ...web, label: mentionLabel(web), ...(!webSearch && { note: words.composer.notConfigured, disabled: true }) },
  ];
}

/** The start of an item's id. */
const ID = /^[ifnro]-\d*$/i;

/** Groups the items that match every word of the query. Labels that start with the query come first. Categories in used are left out. */
export function groupsOf(all: readonly Mentionable[], query: string, used: ReadonlySet<Category>): Group[] {
  const start = query.trim().normalize("NFC").toLowerCase();
  const parts = start.split(/\s+/).filter(Boolean);
  const begins = (m: Mentionable) => m.label.toLowerCase().startsWith(start);
  const byId = ID.test(start) && all.some((m) => m.category === "item");
  const matches = (m: Mentionable) => {
    if (byId) return m.category === "item" && begins(m);
    const text = `${m.label} ${m.alias ?? ""} ${m.detail ?? ""}`.normalize("NFC").toLowerCase();
    return parts.every((w) => text.includes(w));
  };
  const groups = new Map<string, Group>();
  for (const m of all) {
    const name = m.group ?? groupName(m.category);
    if (!groups.has(name)) groups.set(name, { category: m.category, name, items: [], more: false });
  }
  const hits = all.filter((m) => !used.has(m.category) && matches(m)).sort((a, b) => Number(begins(b)) - Number(begins(a)));
  for (const m of hits) {
    const group = groups.get(m.group ?? groupName(m.category))!;
    if (group.items.length < MOST[m.category]) group.items.push(m);
    else group.more = true;
  }
  return [...groups.values()].filter((g) => g.items.length > 0);
}

const groupName = (c: Category): string => (c === "item" ? "" : words.composer.groups[c]);

/** The next or previous item that can be picked, wrapping around; -1 if there is none. */
export function step(items: readonly Mentionable[], from: number, by: 1 | -1): number {
  for (let n = 1; n <= items.length; n++) {
    const at = (from + by * n + items.length * 2) % items.length;
    if (!items[at]!.disabled) return at;
  }
  return -1;
}
