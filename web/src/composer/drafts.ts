import { newIn } from "../api/space";
import { local } from "../lib/storage";
import { emptyDoc, joined, type Node } from "./outgoing";
import type { Attachment, Outgoing } from "./types";

/** The unsent content of a composer. */
export interface Draft {
  doc: Node;
  attachments: Attachment[];
}

const PREFIX = "palaver.draft.";
const INDEX = "palaver.drafts";
const MOST = 40;

const name = (threadId: string | null) => threadId ?? newIn("new");

/** The names of the stored drafts, oldest first. */
function index(): string[] {
  const value = local.readJSON(INDEX);
  return Array.isArray(value) ? value.filter((v) => typeof v === "string") : [];
}

/** Stores a draft; null deletes it. Only the newest MOST drafts are kept. */
export function saveDraft(threadId: string | null, draft: Draft | null): void {
  const id = name(threadId);
  if (!draft && local.read(PREFIX + id) === null) return;
  local.write(PREFIX + id, draft && JSON.stringify(draft));
  const names = index().filter((n) => n !== id);
  if (draft) names.push(id);
  for (const old of names.splice(0, Math.max(0, names.length - MOST))) local.write(PREFIX + old, null);
  local.write(INDEX, JSON.stringify(names));
}

/** Puts a sent message back into a draft, before the draft's content. */
export function returnToDraft(threadId: string | null, out: Outgoing): void {
  const draft = readDraft(threadId);
  saveDraft(threadId, { doc: joined(out.tiptap, draft?.doc ?? emptyDoc), attachments: [...out.attachments, ...(draft?.attachments ?? [])] });
}

export function readDraft(threadId: string | null): Draft | null {
  const value = local.readJSON(PREFIX + name(threadId)) as Partial<Draft> | null;
  if (value?.doc?.type !== "doc" || !Array.isArray(value.attachments)) return null;
  return { doc: value.doc, attachments: value.attachments.filter((a) => typeof a?.id === "string" && typeof a.url === "string") };
}
