import { errorText } from "../api/query";
import type { Outgoing } from "../composer/types";
import { newId } from "../lib/id";
import { session } from "../lib/storage";
import { words } from "../words";
import * as api from "./api";
import { submission } from "./bodies";
import { textOf, turnOf } from "./parts";
import type { Message } from "./types";

/** A message that waits for the running turn to end. */
export interface Queued {
  /** Its client_turn_id. */
  id: string;
  text: string;
  /** The server has it. */
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

/**
 * The messages of a thread that wait: each is the server's as soon as it has been
 * handed over, and until then kept over a reload.
 */
export class Queue {
  private items: Queued[];
  /** They are handed over one at a time, in their order. */
  private handing: Promise<void> = Promise.resolve();
  /** What is being handed over: the server may have it. */
  private readonly sent = new Set<string>();

  constructor(
    private readonly thread: string,
    private readonly on: Listener,
  ) {
    this.items = kept(thread);
  }

  /** Whether one of them will run. */
  get waits(): boolean {
    return this.items.some((q) => !q.failed);
  }

  /** Takes over which messages the server has waiting; those that it does not have stay here. had are the names of those that it had. */
  adopt(theirs: Queued[], had: ReadonlySet<string>): void {
    const known = new Set([...had, ...theirs.map((q) => q.id)]);
    this.set([...theirs, ...this.items.filter((q) => q.turnId === undefined && !known.has(q.id))]);
  }

  /** Adds one. before resolves when the previous message has reached the server: messages keep their order. */
  async add(out: Outgoing, before: Promise<boolean>): Promise<void> {
    const id = newId();
    await this.hand({ id, text: out.text, body: submission(this.thread, out, id, undefined, "enqueue") }, before);
  }

  /** Keeps one that the server has not taken, to be sent again or thrown away; it then waits as the others do. */
  refused(q: Queued & { body: object; failed: string }): void {
    this.put({ ...q, body: { ...q.body, on_busy: "enqueue" } });
  }

  /** Lets go of those that the server ends when somebody talks over them, and returns them. */
  pass(): Queued[] {
    const passed = this.items.filter((q) => q.turnId);
    this.set(this.items.filter((q) => !q.turnId));
    return passed;
  }

  /** Takes one back. */
  async remove(id: string): Promise<void> {
    const q = this.items.find((x) => x.id === id);
    this.set(this.items.filter((x) => x.id !== id));
    if (!q || q.failed || (q.turnId === undefined && !this.sent.has(id))) return;
    try {
      await api.cancel(this.thread, q.turnId ? { turn_id: q.turnId } : { client_turn_id: q.id });
    } catch (err) {
      this.put(q);
      throw err;
    }
  }

  /** Sends one again that was not taken, as itself. */
  async again(id: string): Promise<void> {
    const q = this.items.find((x) => x.id === id);
    if (q?.body) await this.hand({ ...q, failed: undefined }, Promise.resolve(true));
  }

  private async hand(q: Queued, before: Promise<boolean>): Promise<void> {
    this.put(q);
    const earlier = this.handing;
    this.handing = this.deliver(q, Promise.all([before, earlier]).then(([reached]) => reached));
    await this.handing;
  }

  private async deliver(q: Queued, ready: Promise<boolean>): Promise<void> {
    const reached = await ready;
    if (!this.holds(q.id)) return; // taken back meanwhile
    this.sent.add(q.id);
    const answer = reached ? await api.leave(q.body!).then(taken, refused) : { failed: words.problems.earlierNotSent };
    this.sent.delete(q.id);
    if (!this.holds(q.id)) return;
    this.put({ ...q, ...answer });
    if ("turnId" in answer) this.on.onTaken();
  }

  private holds(id: string): boolean {
    return this.items.some((x) => x.id === id);
  }

  private set(items: Queued[]): void {
    this.items = items;
    keep(this.thread, items);
    this.on.onChange(items);
  }

  private put(q: Queued): void {
    this.set(this.holds(q.id) ? this.items.map((x) => (x.id === q.id ? q : x)) : [...this.items, q]);
  }
}

const taken = (turnId: string | undefined) => ({ turnId: turnId ?? "" });
const refused = (err: unknown) => ({ failed: errorText(err) });

const key = (thread: string) => `palaver.waiting.${thread}`;

function keep(thread: string, items: Queued[]): void {
  const ours = items.filter((q) => q.turnId === undefined && q.body);
  session.write(key(thread), ours.length > 0 ? JSON.stringify(ours) : null);
}

/** Those that an earlier visit of this tab has left. What was on its way may have come, and can be sent again: the server knows it by its name. */
function kept(thread: string): Queued[] {
  const value = session.readJSON(key(thread));
  const items = Array.isArray(value) ? (value as Partial<Queued>[]) : [];
  return items.flatMap(({ id, text, body, failed }) => (typeof id === "string" && typeof text === "string" && typeof body === "object" && body ? [{ id, text, body, failed: failed ?? words.problems.maybeSent }] : []));
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
