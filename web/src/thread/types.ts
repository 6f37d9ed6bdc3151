import type { UIMessage } from "ai";
import type { Coded } from "../api/coded";
import type { Action, Citation, Confidence, DocRef, ResumeValue as NativeResumeValue } from "../api/types";

/** The server's metadata of a message (docs/api.md, the AI SDK dialect). */
export interface Metadata {
  thread_id?: string;
  turn_id?: string;
  /** The agent of the turn. */
  agent?: string;
  /** The model that the person has chosen for it. */
  model?: string;
  /** Whether the conversation is in no list, and is deleted when it is left. */
  temporary?: boolean;
  created_at?: string;
  /** Who wrote it, if it was copied from somebody else's conversation. */
  author?: string;
  /** The server's id of the message. */
  server_id?: string;
  /** The id that the client gave the turn when it sent the message. */
  client_turn_id?: string;
  /** For a user's message: its TipTap document. Any client may have sent it, so it is untrusted. */
  tiptap_json?: unknown;
  finished_reason?: "stop" | "length" | "content_filter" | "other" | "cancelled" | "error" | "interrupted";
  interrupted?: boolean;
  interrupted_reason?: string;
  /** Whether it was cancelled while it was queued. */
  never_began?: boolean;
  error?: Coded & { code: string; message: string; retryable: boolean };
  action?: Action;
  inference_confidence?: Confidence;
  retrieval_confidence?: Confidence;
  tokens_used?: number;
  /** Missing if a model's price is unknown. */
  cost_usd?: number;
  web_searches?: number;
  /** Words of the answer that were a quotation and are in no source. */
  unverified?: string[];
}

export interface Status extends Coded {
  node: string;
  message: string;
  web_query?: string;
  /** What the turn has taken when this began. */
  so_far?: { took_ms: number; calls: number; tokens_used: number; cost_usd?: number };
}

/** A tool call that needs an approval. */
export interface AskedCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  editable: boolean;
}

/** What the page shows about a tool before a call is approved. */
export interface ToolInfo {
  name: string;
  /** The MCP server that has it. */
  server?: string;
  description: string;
  effect: "reads" | "changes" | "destroys";
  /** The JSON schema of its arguments; missing if it is too large. */
  schema?: unknown;
}

export interface Decision {
  id: string;
  decision: "approved" | "rejected";
  arguments?: Record<string, unknown>;
  reason?: string;
  remember?: boolean;
}

export type ResumeValue = NativeResumeValue & { tiptap_json?: object; decisions?: Decision[] };

/** A question of a turn, open or answered. */
export interface Question extends Coded {
  interrupt_id: string;
  interrupt_type: "action_choice" | "doc_choice" | "text_input" | "retrieval_low" | "tool_approval" | "choice" | string;
  message: string;
  options?: { id: string; label: string; message_code?: string }[];
  tool_calls?: AskedCall[];
  /** The passages that come closest, when little was found. */
  closest?: Citation[];
  /** The tools of the calls, each once, while the question is open. */
  tools?: ToolInfo[];
  turn_id: string;
  answered: boolean;
  answer?: ResumeValue;
}

type Data = {
  status: Status;
  docs: { node: string; docs: DocRef[] };
  interrupt: Question;
  notice: Coded & { code: string; message: string };
  /** Why a tool call has no result, or failed. */
  "tool-message": Coded & { tool_call_id: string };
};

export type Message = UIMessage<Metadata, Data>;
export type Part = Message["parts"][number];

export type { Citation };
