import type { Graph } from "./board";

/** How an item stands to the one that is pointed at. */
export type Role = "self" | "up" | "down";

/**
 * Which item is pointed at, and what it builds on and what builds on it. Each card
 * asks for its own role, so that only those are drawn again whose role changes.
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

  /** The board has changed. */
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
