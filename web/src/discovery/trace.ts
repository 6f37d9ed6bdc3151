import type { Graph } from "./board";

/** The relation of an item to the highlighted one: it is that item, that item builds on it (up), or it builds on that item (down). */
export type Role = "self" | "up" | "down";

/**
 * The highlighted item (hovered or focused), and the items that it builds on or that
 * build on it. Each card subscribes to its own role, so that only the cards whose
 * role changes are rendered again.
 */
export class Trace {
  private roles: ReadonlyMap<string, Role> = new Map();
  private at: string | null = null;
  private readonly listeners = new Set<() => void>();

  constructor(private graph: Graph) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  roleOf(id: string): Role | undefined {
    return this.roles.get(id);
  }

  /** Call it when the board has changed. */
  follow(graph: Graph): void {
    this.graph = graph;
    if (this.at !== null) this.draw(this.at);
  }

  point(id: string | null): void {
    if (id === this.at) return;
    this.at = id;
    this.draw(id);
  }

  private draw(id: string | null): void {
    const roles = new Map<string, Role>();
    if (id !== null && this.graph.find(id)) {
      for (const up of this.graph.up(id)) roles.set(up, "up");
      for (const down of this.graph.down(id)) roles.set(down, "down");
      roles.set(id, "self");
    }
    this.roles = roles;
    for (const listener of this.listeners) listener();
  }
}
