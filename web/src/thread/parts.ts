import { isToolUIPart, type DynamicToolUIPart, type ToolUIPart } from "ai";
import type { Coded } from "../api/coded";
import type { Citation, DocRef } from "../api/types";
import { readDoc, taggedIn } from "../composer/incoming";
import type { Node } from "../composer/outgoing";
import type { Attachment } from "../composer/types";
import { outsideCode } from "../lib/code";
import { noteUnverified } from "../lib/unverified";
import { words } from "../words";
import { option } from "../words/wire";
import type { Decision, Message, Metadata, Part, Question } from "./types";

export type ToolPart = ToolUIPart | DynamicToolUIPart;

export const toolOf = (p: Part): ToolPart | null => (isToolUIPart(p) ? (p as ToolPart) : null);
export const toolName = (p: ToolPart): string => (p.type === "dynamic-tool" ? p.toolName : p.type.slice("tool-".length));

/** The URL that a tool call imports a document from. */
export function importLink(p: ToolPart | null): string | undefined {
  if (!p || toolName(p) !== "import_document") return undefined;
  const url = (p.input as { url?: unknown } | undefined)?.url;
  return typeof url === "string" ? url : undefined;
}

/** Whether a text is superseded: its worker crashed, and the answer was started again. */
const isSuperseded = (p: Part): boolean => p.type === "text" && ours(p).superseded === true;

function ours(p: Part): Record<string, unknown> {
  const meta = "providerMetadata" in p ? (p.providerMetadata as { palaver?: unknown } | undefined)?.palaver : undefined;
  return typeof meta === "object" && meta !== null ? (meta as Record<string, unknown>) : {};
}

/** How long the model thought, in seconds. Undefined while it thinks. */
export function thoughtFor(p: Part): number | undefined {
  const took = ours(p).took_ms;
  return typeof took === "number" ? Math.max(1, Math.round(took / 1000)) : undefined;
}

/** The parts that the page shows, in order. */
export const shown = (m: Message): Part[] => m.parts.filter((p) => !isSuperseded(p));

/** A message's text. */
export const textOf = (m: Message | undefined): string =>
  (m ? shown(m) : [])
    .flatMap((p) => (p.type === "text" ? [p.text] : []))
    .join("\n\n");

/** The TipTap document of a user's message; null if there is none, or if its text differs from the message. */
export const documentOf = (m: Message): Node | null => readDoc(m.metadata?.tiptap_json, textOf(m));

/** Whether this is the empty answer to a message that was withdrawn while queued. */
export const isWithdrawn = (m: Message): boolean => m.metadata?.never_began === true && m.metadata.interrupted_reason === "user_cancelled";

/** Says why an answer is incomplete. */
export const interruption = (meta: Metadata): string => (meta.interrupted_reason === "user_cancelled" ? words.message.stopped : words.message.interrupted);

/** Whether a turn ended at its question, by a cancel or a new message. The question shows this. */
export function endedByQuestion(m: Message): boolean {
  const part = m.parts.findLast((p) => p.type === "data-interrupt");
  return part?.type === "data-interrupt" && (part.data.answer?.type === "cancel" || skipped(part.data, m.metadata));
}

/** Whether an answer says that it was cancelled or failed; a question that ended it says so itself. */
export const saysEnding = (m: Message): boolean => (m.metadata?.finished_reason === "cancelled" || m.metadata?.finished_reason === "error") && !endedByQuestion(m);

/** Whether the turn ended without an answer to the question. */
export const endedUnanswered = (q: Question, meta: Metadata | undefined): boolean => q.answer?.type === "cancel" || (!q.answered && !q.answer && meta?.finished_reason === "cancelled");

/** Whether a new message replaced the answer to the question. */
export const skipped = (q: Question, meta: Metadata | undefined): boolean => !q.answered && !q.answer && meta?.interrupted_reason === "superseded";

const noToolMessages: ReadonlyMap<string, Coded> = new Map();

/** What the server says about tool calls that failed or have no result, by id. It is one map for all messages without any, so that a context with it does not change. */
export function toolMessages(m: Message): ReadonlyMap<string, Coded> {
  const said = m.parts.flatMap((p) => (p.type === "data-tool-message" ? [[p.data.tool_call_id, p.data] as const] : []));
  return said.length > 0 ? new Map(said) : noToolMessages;
}

/** The numbered citations of an answer. */
export function citationsOf(m: Message): Citation[] {
  const out: Citation[] = [];
  for (const p of m.parts) {
    if (p.type !== "source-document" && p.type !== "source-url") continue;
    const o = ours(p);
    if (typeof o.n !== "number") continue;
    const quote = typeof o.quote === "string" ? o.quote : "";
    if (p.type === "source-url") out.push({ n: o.n, source: "web", title: p.title ?? p.url, url: p.url, quote });
    else out.push({ n: o.n, source: "document", title: p.title, quote, ...place(o) });
  }
  return out;
}

/** The words of an answer that were a quotation and are in no source. */
export const unverifiedOf = (m: Message): string[] => (Array.isArray(m.metadata?.unverified) ? m.metadata.unverified.filter((s) => typeof s === "string") : []);

/** Adds the citations to an answer as Markdown footnotes, e.g. to copy it, and what is to be said about unverified words. */
export function withSources(answer: string, citations: readonly Citation[], unverified: readonly string[] = []): string {
  // The answer may have footnotes of its own.
  const text = outsideCode(noteUnverified(answer, unverified, words.message.unverified), (s) => s.replace(/\[\^(\d{1,3})\]/g, "[^note-$1]"));
  const known = new Set(citations.map((c) => c.n));
  const cited = new Set<number>();
  const marked = outsideCode(text, (s) => s.replace(/\[(\d{1,3})\]/g, (whole, n: string) => (known.has(Number(n)) ? (cited.add(Number(n)), `[^${n}]`) : whole)));
  const notes = citations.flatMap((c) => (cited.has(c.n) ? [`[^${c.n}]: ${sourceLine(c)}`] : []));
  return notes.length > 0 ? `${marked}\n\n${notes.join("\n")}` : text;
}

/** What a list of sources says of a citation: its document and page or its web page, and the quote. */
export function sourceLine(c: Citation): string {
  const line = (s: string) => s.replace(/\s+/g, " ").trim();
  return `${line(c.title)}${c.page ? `, ${words.message.page(c.page)}` : ""}${c.url ? ` <${c.url}>` : ""}${c.quote ? `: ${words.message.quoted(line(c.quote))}` : ""}`;
}

/** Merges equal notices into one part; times is their number. */
export function oncePerNotice(parts: readonly Part[]): { part: Part; times: number }[] {
  const same = (a: Part, b: Part) => a.type === "data-notice" && b.type === "data-notice" && a.data.code === b.data.code && a.data.message === b.data.message;
  return parts.flatMap((part, i) => (parts.slice(0, i).some((p) => same(p, part)) ? [] : [{ part, times: Math.max(1, parts.filter((p) => same(p, part)).length) }]));
}

function place(o: Record<string, unknown>): Partial<Citation> {
  const text = (v: unknown) => (typeof v === "string" ? v : undefined);
  const number = (v: unknown) => (typeof v === "number" ? v : undefined);
  return { doc_id: text(o.doc_id), chunk_id: text(o.chunk_id), start: number(o.start), end: number(o.end), ...(typeof o.page === "number" && { page: o.page }) };
}

export interface Picture {
  url: string;
  mime: string;
}

/** The images of a message. Images with other URLs are left out, because only ours are safe to load. */
export const picturesOf = (m: Message): Picture[] => m.parts.flatMap((p) => (p.type === "file" && ownPicture(p.url) ? [{ url: p.url, mime: p.mediaType }] : []));

/** The same images as attachments, to send the message again. */
export const attachmentsOf = (m: Message): Attachment[] => picturesOf(m).map((p, i) => ({ id: p.url.split("/").at(-1)!, url: p.url, mime: p.mime, name: words.message.image(i + 1) }));

export const ownPicture = (url: string | undefined): boolean => url !== undefined && /^\/api\/attachments\/[A-Za-z0-9_.:-]{1,128}$/.test(url) && !url.endsWith("/..");

/** The open question: the last one of the last answer, while it is unanswered and its turn has not ended. */
export function pendingQuestion(messages: readonly Message[]): Question | null {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return null;
  const over = last.metadata?.finished_reason;
  if (over !== undefined && over !== "interrupted") return null;
  const part = last.parts.findLast((p) => p.type === "data-interrupt");
  return part?.type === "data-interrupt" && !part.data.answered ? part.data : null;
}

/** The documents that a turn found last. */
export function docsOf(m: Message | undefined): DocRef[] {
  const part = m?.parts.findLast((p) => p.type === "data-docs");
  return part?.type === "data-docs" ? part.data.docs : [];
}

/** Marks a question as answered, and its tool calls as decided, before the server confirms it. */
export const answered = (messages: Message[], id: string, answer: Question["answer"]): Message[] =>
  inQuestion(messages, id, (p) => {
    if (p.type === "data-interrupt") return { ...p, data: { ...p.data, answered: true, answer } };
    const tool = toolOf(p);
    const d = answer?.decisions?.find((x) => x.id === tool?.toolCallId);
    if (tool?.state !== "approval-requested" || !d) return p;
    return { ...tool, ...(d.arguments && { input: d.arguments }), state: "approval-responded", approval: { id: tool.approval.id, approved: d.decision === "approved", ...(d.reason && { reason: d.reason }) } } as Part;
  });

/** Reverts answered when the server rejects the answer. */
export const unanswered = (messages: Message[], id: string): Message[] =>
  inQuestion(messages, id, (p, asked) => {
    if (p.type === "data-interrupt") return { ...p, data: { ...p.data, answered: false, answer: undefined } };
    const tool = toolOf(p);
    if (tool?.state !== "approval-responded") return p;
    const call = asked.tool_calls?.find((c) => c.id === tool.toolCallId);
    return { ...tool, ...(call && { input: call.arguments }), state: "approval-requested", approval: { id: tool.approval.id } } as Part;
  });

/** Changes that question, and the other parts of its message. */
function inQuestion(messages: Message[], id: string, change: (p: Part, asked: Question) => Part): Message[] {
  return messages.map((m) => {
    const part = m.parts.find((p) => p.type === "data-interrupt" && p.data.interrupt_id === id);
    if (part?.type !== "data-interrupt") return m;
    return { ...m, parts: m.parts.map((p) => (p.type === "data-interrupt" && p !== part ? p : change(p, part.data))) };
  });
}

function decisionText({ decision, arguments: changed, reason }: Decision): string {
  const text = decision === "rejected" ? words.question.rejected : changed ? words.question.approvedChanged : words.question.approved;
  return reason ? words.question.decision(text, reason) : text;
}

/** Whether the tool cards of an approval say everything that was decided: nothing was changed, and no reason given. */
export const saidByCards = (q: Question): boolean => q.interrupt_type === "tool_approval" && q.answer?.decisions?.every((d) => !d.arguments && !d.reason) === true;

/** The answer to a question as the thread shows it; "" if there is nothing to show. */
export function answerText(q: Question): string {
  const a = q.answer;
  if (!a) return "";
  if (a.type === "cancel") return words.question.cancelled;
  if (a.decisions) return a.decisions.map(decisionText).join(", ");
  const chosen = q.options?.find((o) => o.id === a.value);
  if (chosen && chosen.id !== "tag_docs") return option(chosen);
  if (chosen || !a.value) {
    const tagged = (a.tagged_doc_ids?.length ?? 0) + (a.tagged_set_ids?.length ?? 0) > 0;
    return tagged ? taggedIn(a.tiptap_json).join(", ") || words.question.documentsChosen : chosen ? option(chosen) : "";
  }
  return a.value;
}

/** What the thread shows below a question of a turn that has ended or went on. */
export const replyText = (q: Question, meta: Metadata | undefined): string => (skipped(q, meta) ? words.message.skipped : answerText(q));

const superseded = { finished_reason: "cancelled", interrupted: true, interrupted_reason: "superseded" } as const;

/** Marks the last answer as superseded if it is incomplete when a new message replaces it. */
export function withLastSuperseded(messages: Message[]): Message[] {
  const last = messages.at(-1);
  const reason = last?.metadata?.finished_reason;
  if (last?.role !== "assistant" || (reason && reason !== "interrupted")) return messages;
  return [...messages.slice(0, -1), { ...last, metadata: { ...last.metadata, ...superseded } }];
}

/** A queued message that a new message superseded. */
export const supersededMessage = ({ id, text, turnId = "" }: { id: string; text: string; turnId?: string }): Message[] => [
  { id, role: "user", metadata: { turn_id: turnId, client_turn_id: id }, parts: [{ type: "text", text }] },
  { id: turnId, role: "assistant", metadata: { turn_id: turnId, ...superseded }, parts: [] },
];

/** The agent of the last turn that has one. */
export const agentOf = (messages: readonly Message[]): string | undefined => messages.findLast((m) => m.metadata?.agent)?.metadata?.agent;

/** The model that was chosen for the last turn. */
export const modelOf = (messages: readonly Message[]): string | undefined => messages.findLast((m) => m.metadata?.agent)?.metadata?.model;

/** For each message, the agent to show: that of an answer whose agent is not the one before (at first, not the default); else undefined. */
export function newAgents(messages: readonly Message[], byDefault: string | undefined): (string | undefined)[] {
  let before = byDefault;
  return messages.map((m) => {
    const agent = m.role === "assistant" ? m.metadata?.agent : undefined;
    if (agent === undefined || agent === before) return undefined;
    before = agent;
    return agent;
  });
}

export const turnOf = (m: Message | undefined): string | undefined => m?.metadata?.turn_id;

/** The turn of the message at i: a new user message takes it from its answer. */
export function turnAt(messages: readonly Message[], i: number): string | undefined {
  const m = messages[i];
  const next = messages[i + 1];
  return turnOf(m) ?? (m?.role === "user" && next?.role === "assistant" ? turnOf(next) : undefined);
}

/** The index of a turn's user message; -1 if not found. */
export const userAt = (messages: readonly Message[], turn: string): number => messages.findIndex((m, i) => m.role === "user" && turnAt(messages, i) === turn);

/**
 * Gives the server's messages the ids that the page already shows them with, so
 * that nothing on the page moves when they replace the local messages.
 */
export function adopt(local: readonly Message[], server: Message[]): Message[] {
  const known = new Map<string, Message>();
  local.forEach((m, i) => {
    const turn = turnAt(local, i);
    if (turn && !known.has(`${m.role} ${turn}`)) known.set(`${m.role} ${turn}`, m);
    if (m.metadata?.client_turn_id) known.set(`named ${m.metadata.client_turn_id}`, m);
  });
  return server.map((m) => {
    const mine = known.get(`${m.role} ${turnOf(m)}`) ?? (m.role === "user" ? known.get(`named ${m.metadata?.client_turn_id}`) : undefined);
    if (!mine) return m;
    const metadata = { ...m.metadata, created_at: m.metadata?.created_at ?? mine.metadata?.created_at, client_turn_id: m.metadata?.client_turn_id ?? mine.metadata?.client_turn_id };
    return { ...m, id: mine.id, metadata };
  });
}

/** The local messages that come before the first read one; empty if they are not of the same branch. */
export function before(local: readonly Message[], read: readonly Message[]): Message[] {
  const first = read[0];
  const i = first ? local.findIndex((m) => m.role === first.role && turnOf(m) !== undefined && turnOf(m) === turnOf(first)) : -1;
  return local.slice(0, Math.max(0, i));
}
