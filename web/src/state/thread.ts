import type { CancelledEvent, DocRef, ErrorEvent, History, Interrupt, Message, ResponseEvent, SubmitBody, TurnEvent } from "../api/types";

export interface Status {
  node: string;
  message: string;
}

/** The turn that runs now. */
export interface Live {
  clientTurnId?: string;
  turnId?: string;
  text: string;
  statuses: Status[];
  docs: DocRef[];
  webQuery?: string;
  /** Why the stream is away and being sought again; empty while it flows. */
  trouble: string;
  stopping: boolean;
}

export interface Problem {
  message: string;
  /** What the Try again button does: the same send (which cannot double), a new one, or read the thread anew. */
  retry?: "same" | "new" | "reload";
}

export interface Thread {
  id: string | null;
  load: "ready" | "loading" | "missing";
  messages: Message[];
  live: Live | null;
  interrupt: Interrupt | null;
  problem: Problem | null;
  /** The last send of this page, kept for a retry. */
  sent: SubmitBody | null;
}

export const emptyThread: Thread = { id: null, load: "ready", messages: [], live: null, interrupt: null, problem: null, sent: null };

export type Change =
  | { type: "show"; id: string | null }
  | { type: "loaded"; history: History }
  | { type: "missing" }
  | { type: "sent"; body: SubmitBody }
  | { type: "resent"; body: SubmitBody }
  | { type: "answered"; label: string }
  | { type: "opened"; turnId: string | null }
  | { type: "event"; event: TurnEvent }
  | { type: "cut"; why: string }
  | { type: "lost"; problem: Problem }
  | { type: "refused"; problem: Problem; interrupt?: Interrupt }
  | { type: "stopping" }
  | { type: "dismissed" };

const freshLive = (over: Partial<Live> = {}): Live => ({ text: "", statuses: [], docs: [], trouble: "", stopping: false, ...over });

export function reduce(t: Thread, c: Change): Thread {
  switch (c.type) {
    case "show":
      return { ...emptyThread, id: c.id, load: c.id ? "loading" : "ready" };
    case "loaded": {
      const { active_turn: active, pending_interrupt: question, messages } = c.history;
      const live = active ? freshLive({ turnId: active.turn_id }) : null;
      const now: Thread = { ...t, load: "ready", messages: messages ?? [], interrupt: question, live, problem: null };
      return question ? addSystem(now, question.message, question.turn_id, question.interrupt_id) : now;
    }
    case "missing":
      return { ...t, load: "missing" };
    case "sent": {
      const kept = t.live ? keepPartial(t, t.live.text, "superseded") : t;
      const message: Message = { id: c.body.client_turn_id, role: "user", content: c.body.message };
      return {
        ...kept,
        id: c.body.thread_id,
        load: "ready",
        messages: [...kept.messages, message],
        live: freshLive({ clientTurnId: c.body.client_turn_id }),
        interrupt: null,
        problem: null,
        sent: c.body,
      };
    }
    case "resent":
      return { ...t, problem: null, live: freshLive({ clientTurnId: c.body.client_turn_id }), sent: c.body };
    case "answered": {
      const live = t.live ?? freshLive({ turnId: t.interrupt?.turn_id });
      const answer: Message[] = c.label ? [{ id: `answer-${t.messages.length}`, role: "user", content: c.label, turn_id: live.turnId }] : [];
      return { ...t, messages: [...t.messages, ...answer], interrupt: null, problem: null, live: { ...live, trouble: "" } };
    }
    case "opened":
      return t.live ? { ...t, live: { ...t.live, turnId: c.turnId ?? t.live.turnId, trouble: "" } } : t;
    case "event":
      return onEvent(t, c.event);
    case "cut":
      return t.live ? { ...t, live: { ...t.live, trouble: c.why } } : t;
    case "lost":
      return { ...t, live: null, problem: c.problem };
    case "refused":
      return { ...t, live: c.interrupt ? t.live : null, interrupt: c.interrupt ?? t.interrupt, problem: c.problem };
    case "stopping":
      return t.live ? { ...t, live: { ...t.live, stopping: true } } : t;
    case "dismissed":
      return { ...t, problem: null };
  }
}

function onEvent(t: Thread, e: TurnEvent): Thread {
  const live = t.live ?? freshLive();
  switch (e.type) {
    case "status": {
      const last = live.statuses.at(-1);
      const status = { node: e.node, message: e.message };
      const statuses = last?.node === e.node ? [...live.statuses.slice(0, -1), status] : [...live.statuses, status];
      const found = e.docs_found?.length ? e.docs_found : live.docs;
      return { ...t, interrupt: null, live: { ...live, statuses, docs: found, webQuery: e.web_query ?? live.webQuery } };
    }
    case "token":
      return { ...t, interrupt: null, live: { ...live, text: live.text + e.content } };
    case "notice": {
      const next = addSystem(t, e.message, live.turnId, `${live.turnId ?? ""}-${e.code}`);
      // A worker died: the piece is written anew from its beginning.
      return { ...next, live: e.code === "restarted" ? { ...live, text: "" } : live };
    }
    case "interrupt": {
      const turnId = e.turn_id ?? live.turnId;
      const asked = addSystem(t, e.message, turnId, e.interrupt_id);
      return { ...asked, interrupt: e, live: { ...live, turnId, statuses: [], docs: [], webQuery: undefined } };
    }
    case "response":
      return { ...t, interrupt: null, live: null, messages: [...t.messages, answerOf(e)] };
    case "cancelled":
      return { ...keepPartial(t, partialOf(e, live), e.reason, e.turn_id), interrupt: null, live: null };
    case "error":
      return {
        ...keepPartial(t, partialOf(e, live), "error", e.turn_id),
        interrupt: null,
        live: null,
        problem: { message: e.message, ...(e.retryable ? { retry: "new" as const } : {}) },
      };
    default:
      return t; // a newer server's event
  }
}

const partialOf = (e: CancelledEvent | ErrorEvent, live: Live): string => e.partial ?? live.text;

function answerOf(e: ResponseEvent): Message {
  return {
    id: e.turn_id,
    role: "assistant",
    content: e.response,
    turn_id: e.turn_id,
    metadata: {
      citations: e.citations ?? [],
      action: e.action,
      inference_confidence: e.inference_confidence,
      retrieval_confidence: e.retrieval_confidence,
      tokens_used: e.tokens_used,
      cost_usd: e.cost_usd,
    },
  };
}

/** What stood of an answer when its turn ended early stays, and says so; without a word of it a quiet line does. */
function keepPartial(t: Thread, text: string, reason: string, turnId?: string): Thread {
  if (text.trim() === "") return reason === "user_cancelled" ? addSystem(t, "Stopped.", turnId, `${turnId}-stopped`) : t;
  const message: Message = {
    id: turnId ?? `partial-${t.messages.length}`,
    role: "assistant",
    content: text,
    turn_id: turnId,
    metadata: { interrupted: true, interrupted_reason: reason },
  };
  return { ...t, messages: [...t.messages, message] };
}

/** A replayed turn repeats its notices and questions; each is shown once. */
function addSystem(t: Thread, content: string, turnId: string | undefined, id: string): Thread {
  const known = t.messages.some((m) => m.role === "system" && (m.id === id || (m.turn_id === turnId && m.content === content)));
  return known ? t : { ...t, messages: [...t.messages, { id, role: "system", content, turn_id: turnId }] };
}
