import type { Outgoing } from "../composer/types";
import type { Message, Question, ResumeValue } from "./types";

// Request bodies for /api/ui/chat. They contain only what is new: the server has
// the rest.

export type Body = Record<string, unknown>;

/** A new message. It follows the turn parent; undefined means the newest. */
export function submission(thread: string, out: Outgoing, clientTurnId: string, parent: string | undefined, onBusy: Outgoing["onBusy"]): Body {
  return {
    id: thread,
    trigger: "submit-message",
    message: { id: clientTurnId, role: "user", parts: contentOf(out) },
    client_turn_id: clientTurnId,
    on_busy: onBusy,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(parent && { parent_checkpoint_id: parent }),
    ...(hasDocument(out) && { tiptap_json: out.tiptap }),
    ...(out.taggedDocIds.length > 0 && { tagged_doc_ids: out.taggedDocIds }),
    ...(out.taggedSetIds.length > 0 && { tagged_set_ids: out.taggedSetIds }),
    ...(out.spaceIds && { space_ids: out.spaceIds }),
    ...(out.references && { references: out.references }),
    ...(out.action && { action: out.action }),
    ...(out.webSearch && { enable_web_search: true }),
    ...(out.noWeb && { web_search: "never" }),
    ...(out.agent && { agent: out.agent }),
    ...(out.effort && { effort: out.effort }),
    ...(out.model && { model: out.model }),
    ...(out.temporary && { temporary: true }),
  };
}

/** A request for a new answer of a turn. */
export function anotherAnswer(thread: string, turn: string, message: Message, clientTurnId: string): Body {
  const parts = message.parts.filter((p) => p.type === "text" || p.type === "file");
  return { id: thread, trigger: "regenerate-message", messageId: turn, messages: [{ id: message.id, role: "user", parts }], client_turn_id: clientTurnId, on_busy: "supersede" };
}

/** The answer to a question. The turn continues in the message that asks it. */
export function reply(thread: string, asking: Message, question: Question, value: ResumeValue): Body {
  const parts = asking.parts.flatMap((p) => ("toolCallId" in p ? [{ type: p.type, toolCallId: p.toolCallId }] : []));
  return { id: thread, messageId: asking.id, messages: [{ id: asking.id, role: "assistant", parts }], resume: { interrupt_id: question.interrupt_id, resume_value: value } };
}

/** A new message as the page shows it until the server returns it. */
export function ownMessage(id: string, out: Outgoing, clientTurnId: string): Message {
  return {
    id,
    role: "user",
    metadata: { created_at: new Date().toISOString(), client_turn_id: clientTurnId, ...(out.agent && { agent: out.agent }), ...(out.model && { model: out.model }), ...(hasDocument(out) && { tiptap_json: out.tiptap }) },
    parts: contentOf(out),
  };
}

const hasDocument = (out: Outgoing): boolean => Object.keys(out.tiptap).length > 0;

const contentOf = (out: Outgoing): Message["parts"] => [
  ...out.attachments.map((a) => ({ type: "file" as const, url: a.url, mediaType: a.mime, filename: a.name })),
  ...(out.text.trim() ? [{ type: "text" as const, text: out.text.trim() }] : []),
];
