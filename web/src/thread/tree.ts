// A conversation's turns form a tree: an edited message and another answer are
// turns beside the one they replace. The server sends it as checkpoint → the
// checkpoints that follow it, oldest first.

export type Branches = Record<string, string[]>;

export const ROOT = "root";

/** The other way round: turn → the one that it follows. Made once per tree, for every message asks each time that an answer grows. */
const parents = new WeakMap<Branches, Map<string, string>>();

/** The turn that a turn follows; ROOT for a first one, undefined for an unknown one. */
export function parentOf(branches: Branches, turn: string): string | undefined {
  let known = parents.get(branches);
  if (!known) {
    known = new Map(Object.entries(branches).flatMap(([parent, children]) => children.map((child) => [child, parent] as const)));
    parents.set(branches, known);
  }
  return known.get(turn);
}

/** A turn and those in its place, oldest first. */
export function versionsOf(branches: Branches, turn: string): string[] {
  const parent = parentOf(branches, turn);
  return parent === undefined ? [turn] : branches[parent]!;
}

/** The newest end of the conversation that goes through a turn. */
export function endOf(branches: Branches, turn: string): string {
  const seen = new Set<string>();
  for (let at = turn; ; ) {
    const next = branches[at]?.at(-1);
    if (next === undefined || seen.has(at)) return at;
    seen.add(at);
    at = next;
  }
}

/** Whether a turn is the newest end of the conversation, which a message follows when it names no place. */
export function isNewest(branches: Branches, turn: string): boolean {
  const all = Object.values(branches).flat();
  return all.length === 0 || all.reduce((a, b) => (b > a ? b : a)) <= turn;
}
