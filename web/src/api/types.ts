// The types of the server's native dialect (docs/contract.md).
import type { Coded } from "./coded";

export type Action = "summarize" | "inquire" | "compare" | "audit";
export type Confidence = "high" | "medium" | "low";

export interface DocRef {
  id: string;
  title: string;
}

/** start and end count characters (code points) of the document's text. */
export interface Citation {
  n: number;
  source: "document" | "web";
  doc_id?: string;
  title: string;
  chunk_id?: string;
  url?: string;
  quote: string;
  start?: number;
  end?: number;
  /** Where the quote begins, from 1; absent if the document has no pages. */
  page?: number;
}

export interface Interrupt {
  interrupt_id: string;
  interrupt_type: string;
  message: string;
  options?: { id: string; label: string }[];
  turn_id?: string;
}

interface Base {
  event_id?: string;
}
export type StatusEvent = Base & { type: "status"; node: string; message: string; tool_call_id?: string; docs_found?: DocRef[]; web_query?: string };
export type TokenEvent = Base & { type: "token"; content: string };
export type NoticeEvent = Base & { type: "notice"; code: string; message: string };
export type ResponseEvent = Base & {
  type: "response";
  response: string;
  citations?: Citation[] | null;
  action?: Action;
  inference_confidence?: Confidence;
  retrieval_confidence?: Confidence;
  tokens_used?: number;
  cost_usd?: number;
  turn_id: string;
};
export type InterruptEvent = Base & Interrupt & { type: "interrupt" };
export type CancelledEvent = Base & { type: "cancelled"; reason: string; partial?: string; turn_id: string };
export type ErrorEvent = Base & { type: "error"; message: string; code: string; retryable?: boolean; partial?: string; turn_id?: string };
export type TurnEvent = StatusEvent | TokenEvent | NoticeEvent | ResponseEvent | InterruptEvent | CancelledEvent | ErrorEvent;

export interface ResumeValue {
  type: string;
  value: string | null;
  tagged_doc_ids?: string[];
  tagged_set_ids?: string[];
}

export interface Conversation {
  id: string;
  title: string;
  created_at: string;
  last_message_at?: string;
  status?: string;
  /** Whether its question is about tool calls. */
  approval?: boolean;
  pinned?: boolean;
  archived?: boolean;
  /** The space that it belongs to. */
  space_id?: string;
  /** The spaces whose documents it uses besides the person's own. */
  space_ids?: string[];
  /** Whether the readers of its space can read it. */
  shared?: boolean;
  /** Who shares it; absent for the person's own. */
  author?: string;
  /** In search results: the text around the match, if a message matches. */
  match?: string;
  /** The documents that the conversation uses; only when a single conversation is loaded. */
  documents?: DocRef[] | null;
}

export interface Doc extends Coded {
  id: string;
  title: string;
  /** The title, and what tells the document apart from others that a list shows. */
  label?: string;
  /** The name of its file. */
  name?: string;
  other_names?: string[];
  status: "processing" | "ready" | "failed";
  /** The origin: upload, google_drive or link. */
  source_type: string;
  /** The file format: txt, pdf, docx… */
  format: string;
  source_url?: string;
  created_at?: string;
  bytes: number;
  chunks: number;
  /** How many pages its file has, if that is known. */
  pages?: number;
  /** How many of them are pictures whose text could not be read. */
  unread_pages?: number;
  progress?: number;
  error?: string;
  public: boolean;
  /** The conversation that it belongs to; absent for a document of the library. */
  conversation_id?: string;
  /** The space that it belongs to, and who has added it there. */
  space_id?: string;
  added_by?: string;
}

export interface DocSet {
  id: string;
  name: string;
  doc_ids: string[];
}

export interface Page<T> {
  items: T[] | null;
  next_cursor?: string;
}
