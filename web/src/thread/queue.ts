import { wordsOf } from "../api/query";
import type { Outgoing } from "../composer/types";
import { newId } from "../lib/id";
import * as api from "./api";
import { submission } from "./bodies";
import { textOf, turnOf } from "./parts";
import type { Message } from "./types";

/** A message that waits for the running turn to end. */
export interface Queued {
  /** Its client_turn_id. */
  id: string;
  text: string;
  turnId?: string;
  /** Why the server has not taken it. */
  failed?: string;
  body?: object;
}

interface Listener {
  onChange(queued: Queued[]): void;
  /** The server has one more. */
  onTaken(): void;
}

/** The messages of a thread that wait: each is the server's as soon as it has been handed over. */
export class Queue {
  private items: Queued[] = [];

  constructor(
    private readonly thread: string,
    private readonly on: Listener,
  ) {}

  /** Whether one of them will run. */
  get waits(): boolean {
    return this.items.some((q) => !q.failed);
  }

  /** Takes over which messages the server has waiting; those that it has not taken stay here. */
  adopt(theirs: Queued[]): void {
    this.set([...theirs, ...this.items.filter((q) => q.failed && !theirs.some((t) => t.id === q.id))]);
  }

  async add(out: Outgoing): Promise<void> {
    const id = newId();
    await this.hand({ id, text: out.text, body: submission(this.thread, out, id, undefined, "enqueue") });
  }

  /** Keeps one that the server has not taken, to be sent again or thrown away. */
  refused(q: Queued & { failed: string }): void {
    this.put(q);
  }

  /** Takes one back. */
  async remove(id: string): Promise<void> {
    const q = this.items.find((x) => x.id === id);
    this.set(this.items.filter((x) => x.id !== id));
    if (q && !q.failed) await api.cancel(this.thread, q.turnId ? { turn_id: q.turnId } : { client_turn_id: q.id });
  }

  /** Sends one again that was not taken, as itself. */
  async again(id: string): Promise<void> {
    const q = this.items.find((x) => x.id === id);
    if (q?.body) await this.hand({ ...q, failed: undefined });
  }

  private async hand(q: Queued): Promise<void> {
    this.put(q);
    const answer = await api.leave(q.body!).then(
      (turnId) => ({ turnId }),
      (err: unknown) => ({ failed: wordsOf(err) }),
    );
    if (!this.items.some((x) => x.id === q.id)) return; // taken back meanwhile
    this.put({ ...q, ...answer });
    if ("turnId" in answer) this.on.onTaken();
  }

  private set(items: Queued[]): void {
    this.items = items;
    this.on.onChange(items);
  }

  private put(q: Queued): void {
    const known = this.items.some((x) => x.id === q.id);
    this.set(known ? this.items.map((x) => (x.id === q.id ? q : x)) : [...this.items, q]);
  }
}

/** Messages up to the running turn, and those that wait behind it. One that was taken back while it waited shows when the turn is over. */
export function apart(messages: Message[], active: string | undefined): { messages: Message[]; queued: Queued[] } {
  const i = active ? messages.findIndex((m) => turnOf(m) === active) : -1;
  if (i < 0) return { messages, queued: [] };
  const later = messages.slice(i).filter((m) => turnOf(m) !== active);
  const over = new Set(later.filter((m) => m.role === "assistant").map(turnOf));
  const queued = later.filter((m) => m.role === "user" && !over.has(turnOf(m)));
  return { messages: messages.filter((m) => !later.includes(m)), queued: queued.map((m) => ({ id: m.metadata?.client_turn_id ?? m.id, text: textOf(m), turnId: turnOf(m) })) };
}
