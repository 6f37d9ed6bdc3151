// The turns of a thread form a tree: an edited message and a regenerated answer
// are siblings of the turn that they replace. The server sends the tree as
// checkpoint → its children, oldest first.

export type Branches = Record<string, string[]>;

export const ROOT = "root";

/** Turn → its parent. Cached per tree, because every message looks it up each time that an answer grows. */
const parents = new WeakMap<Branches, Map<string, string>>();

/** The parent of a turn; ROOT for a first one, undefined for an unknown one. */
export function parentOf(branches: Branches, turn: string): string | undefined {
  let known = parents.get(branches);
  if (!known) {
    known = new Map(Object.entries(branches).flatMap(([parent, children]) => children.map((child) => [child, parent] as const)));
    parents.set(branches, known);
  }
  return known.get(turn);
}

/** A turn and its siblings, oldest first. */
export function versionsOf(branches: Branches, turn: string): string[] {
  const parent = parentOf(branches, turn);
  return parent === undefined ? [turn] : branches[parent]!;
}

/** The last turn of the newest branch through a turn. */
export function endOf(branches: Branches, turn: string): string {
  const seen = new Set<string>();
  for (let at = turn; ; ) {
    const next = branches[at]?.at(-1);
    if (next === undefined || seen.has(at)) return at;
    seen.add(at);
    at = next;
  }
}

/** Whether a turn is the newest of the thread, which a message without a parent follows. */
export function isNewest(branches: Branches, turn: string): boolean {
  const all = Object.values(branches).flat();
  return all.length === 0 || all.reduce((a, b) => (b > a ? b : a)) <= turn;
}
