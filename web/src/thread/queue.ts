import { errorText } from "../api/query";
import type { Outgoing } from "../composer/types";
import { newId } from "../lib/id";
import { session } from "../lib/storage";
import { words } from "../words";
import * as api from "./api";
import { ownMessage, submission } from "./bodies";
import { textOf, turnOf } from "./parts";
import type { Message } from "./types";

/** A message that waits until the running turn has ended. */
export interface Queued {
  /** Its client_turn_id. */
  id: string;
  text: string;
  /** The message as the server has it, or as it was sent. */
  message?: Message;
  /** Set once the server has accepted it. */
  turnId?: string;
  /** Why the server did not accept it. */
  failed?: string;
  body?: object;
}

interface Listener {
  onChange(queued: Queued[]): void;
  /** The server accepted a message. */
  onTaken(): void;
}

/**
 * The queued messages of a thread. A message survives a reload in session storage
 * until the server has accepted it.
 */
export class Queue {
  private items: Queued[];
  /** Messages are sent one at a time, in order. */
  private delivering: Promise<void> = Promise.resolve();
  /** Ids being sent: the server may have them. */
  private readonly sent = new Set<string>();

  constructor(
    private readonly thread: string,
    private readonly on: Listener,
  ) {
    this.items = kept(thread);
  }

  /** Whether a queued message will run. */
  get hasPending(): boolean {
    return this.items.some((q) => !q.failed);
  }

  /** Adopts the server's queue, and keeps messages that it does not have. had contains the client_turn_ids of all its messages. */
  adopt(theirs: Queued[], had: ReadonlySet<string>): void {
    const known = new Set([...had, ...theirs.map((q) => q.id)]);
    this.set([...theirs, ...this.items.filter((q) => q.turnId === undefined && !known.has(q.id))]);
  }

  /** Queues a message, or gives it to the running answer; the server queues it if that cannot read it. To keep the order, it is sent after before, which resolves to whether the server has the previous one. */
  async add(out: Outgoing, before: Promise<boolean>): Promise<void> {
    const id = newId();
    await this.enqueue({ id, text: out.text, message: ownMessage(id, out, id), body: submission(this.thread, out, id, undefined, out.onBusy) }, before);
  }

  /** Replaces a queued message by an edited one. It throws if the message no longer waits. */
  async replace(id: string, out: Outgoing): Promise<void> {
    if (this.sent.has(id)) await this.delivering; // until the server has it
    const q = this.items.find((x) => x.id === id);
    if (!q) throw new Error(words.thread.noLongerWaits);
    const next = newId();
    const { agent, model } = q.message?.metadata ?? {};
    const whole: Outgoing = { ...out, ...(agent && { agent }), ...(model && { model }) };
    const body = submission(this.thread, whole, next, undefined, "enqueue");
    const edited: Queued = { id: next, text: out.text, message: ownMessage(next, whole, next), body: q.turnId ? { ...body, replaces: q.turnId } : body };
    if (!q.turnId) { // the server does not have it
      this.swap(id, edited);
      return this.enqueue(edited, Promise.resolve(true));
    }
    this.swap(id, { ...q, text: out.text });
    try {
      this.swap(id, { ...edited, ...taken(await api.sendOnly(edited.body!)) });
      this.on.onTaken();
    } catch (err) {
      this.swap(id, q);
      throw err;
    }
  }

  /** Keeps a rejected message, which the user can retry or remove. A retry queues it like the others. */
  refused(q: Queued & { body: object; failed: string }): void {
    this.put({ ...q, body: { ...q.body, on_busy: "enqueue" } });
  }

  /** Removes and returns the messages on the server, which end when a new message supersedes them. */
  removeSuperseded(): Queued[] {
    const superseded = this.items.filter((q) => q.turnId);
    this.set(this.items.filter((q) => !q.turnId));
    return superseded;
  }

  /** Withdraws a queued message. */
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

  /** Retries a failed message with the same id. */
  async retry(id: string): Promise<void> {
    const q = this.items.find((x) => x.id === id);
    if (q?.body) await this.enqueue({ ...q, failed: undefined }, Promise.resolve(true));
  }

  private async enqueue(q: Queued, before: Promise<boolean>): Promise<void> {
    this.put(q);
    const earlier = this.delivering;
    this.delivering = this.deliver(q, Promise.all([before, earlier]).then(([reached]) => reached));
    await this.delivering;
  }

  private async deliver(q: Queued, ready: Promise<boolean>): Promise<void> {
    const reached = await ready;
    if (!this.holds(q.id)) return; // it was withdrawn meanwhile
    this.sent.add(q.id);
    const answer = reached ? await api.sendOnly(q.body!).then(taken, refused) : { failed: words.problems.earlierNotSent };
    this.sent.delete(q.id);
    if (!this.holds(q.id)) return;
    this.put({ ...q, ...answer });
    if ("turnId" in answer) this.on.onTaken();
  }

  private holds(id: string): boolean {
    return this.items.some((x) => x.id === id);
  }

  private swap(id: string, by: Queued): void {
    this.set(this.items.map((x) => (x.id === id ? by : x)));
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

/** Messages that this tab stored before a reload. The server may have one already; its client_turn_id makes a retry safe. */
function kept(thread: string): Queued[] {
  const value = session.readJSON(key(thread));
  const items = Array.isArray(value) ? (value as Partial<Queued>[]) : [];
  return items.flatMap(({ id, text, body, failed }) => (typeof id === "string" && typeof text === "string" && typeof body === "object" && body ? [{ id, text, body, failed: failed ?? words.problems.maybeSent }] : []));
}

/** Separates the messages queued behind the running turn from the others. Withdrawn ones are left out until that turn has ended. */
export function splitQueued(messages: Message[], active: string | undefined): { messages: Message[]; queued: Queued[] } {
  const i = active ? messages.findIndex((m) => turnOf(m) === active) : -1;
  if (i < 0) return { messages, queued: [] };
  const later = messages.slice(i).filter((m) => turnOf(m) !== active);
  const over = new Set(later.filter((m) => m.role === "assistant").map(turnOf));
  const queued = later.filter((m) => m.role === "user" && !over.has(turnOf(m)));
  return { messages: messages.filter((m) => !later.includes(m)), queued: queued.map((m) => ({ id: m.metadata?.client_turn_id ?? m.id, text: textOf(m), message: m, turnId: turnOf(m) })) };
}
