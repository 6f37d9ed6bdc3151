// Made from the OpenAPI document by "npm run types"; do not edit.

export type ActiveTurn = {
  status: "new" | "accepted" | "running" | "interrupted" | "completed" | "cancelled" | "failed";
  turn_id: string;
};

export type Attachment = {
  id: string;
  url: string;
};

export type Cancel = {
  /** cancelling: the turn is being stopped. pending: the turn is not known yet and will be stopped when it is submitted. idle: no turn is running. Otherwise the status of a turn that had already ended. */
  status: "cancelling" | "pending" | "idle" | "completed" | "cancelled" | "failed";
  turn_id?: string;
};

export type Citation = {
  chunk_id?: string;
  doc_id?: string;
  /** Offset in the document's text, in characters. */
  end?: number | null;
  /** The number of the citation's marker [n] in the text. */
  n: number;
  page?: number;
  /** The quoted text, verbatim. */
  quote: string;
  source: "document" | "web";
  /** Offset in the document's text, in characters. */
  start?: number | null;
  title: string;
  url?: string;
};

export type Conversation = {
  approval?: boolean;
  archived?: boolean;
  author?: string;
  created_at: string;
  documents?: Array<DocRef>;
  id: string;
  last_message_at: string;
  match?: string;
  pinned?: boolean;
  shared?: boolean;
  space_id?: string;
  /** Ids of spaces whose documents a conversation in no space reads, too, from this message on. */
  space_ids?: Array<string>;
  status: "idle" | "running" | "interrupted";
  title: string;
  turn_id?: string;
};

export type ConversationList = {
  items: Array<Conversation>;
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string;
};

export type ConversationPatchBody = {
  /** Whether the conversation is archived. Archiving unpins it, and a new message unarchives it. */
  archived?: boolean | null;
  /** Whether the conversation is pinned to the top of the list. */
  pinned?: boolean | null;
  shared?: boolean | null;
  title?: string | null;
};

export type DecisionBody = {
  /** Arguments that replace those of the model. They must satisfy the tool's schema. */
  arguments?: Record<string, unknown> | null;
  decision: "approved" | "rejected";
  id: string;
  /** The reason for a rejection. The model reads it. */
  reason?: string | null;
  /** Whether this tool runs without approval for the rest of this conversation. */
  remember?: boolean | null;
};

export type DocRef = {
  id: string;
  title: string;
};

export type Document = {
  added_by?: string;
  bytes: number;
  chunks: number;
  /** The conversation that the document belongs to. Absent: the library. */
  conversation_id?: string;
  created_at: string;
  error?: string;
  external_source_id?: string;
  format: string;
  id: string;
  label: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  name?: string;
  other_names?: Array<string>;
  pages?: number;
  /** The progress in percent while the document is processed. */
  progress?: number | null;
  public: boolean;
  source_type: string;
  source_url?: string;
  space_id?: string;
  status: "processing" | "ready" | "failed";
  title: string;
  unread_pages?: number;
};

export type Documents = {
  embedding?: Embedding;
  items: Array<Document>;
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string;
};

export type Embedding = {
  done: number;
  total: number;
};

export type Error = {
  error: {
  code: string;
  details?: Array<Problem>;
  message: string;
  message_code?: string;
  message_params?: Record<string, unknown>;
  request_id: string;
  retry_at?: string;
  turn_id?: string;
};
};

export type History = {
  active_turn: ActiveTurn | null;
  branches: Record<string, Array<string>>;
  messages: Array<Message>;
  more: boolean;
  pending_interrupt: NativeInterrupt | null;
  thread_id: string;
};

export type Hit = {
  chunk_id: string;
  doc_id: string;
  end: number;
  score: number;
  start: number;
  text: string;
  title: string;
};

export type Message = {
  /** The checkpoint, which a later turn can follow. */
  checkpoint_id: string;
  content: string;
  created_at: string;
  id: string;
  metadata: Record<string, unknown>;
  /** The checkpoint that the turn follows. */
  parent_checkpoint_id: string;
  role: "user" | "assistant" | "system";
  turn_id: string;
};

export type NativeCancelBody = {
  /** The client's id of this message. A repeated request with the same id and content returns the existing turn. */
  client_turn_id?: string | null;
  reason?: "user_cancelled" | "disconnect" | "" | null;
  /** The client's id of this request. */
  stream_run_id?: string | null;
  thread_id?: string | null;
  turn_id?: string | null;
};

export type NativeCancelled = {
  citations?: Array<Citation>;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  partial: string;
  reason: "user_cancelled" | "superseded" | "disconnect" | "rolled_back";
  /** The client's id of this request. */
  stream_run_id?: string;
  turn_id: string;
  type: "cancelled";
  unverified?: Array<string>;
};

export type NativeChatBody = {
  /** What to do with the message. Empty or null: inferred from the message. */
  action?: "summarize" | "inquire" | "compare" | "audit" | "" | null;
  /** The agent that answers. Default: the conversation's agent. */
  agent?: string | null;
  /** Ids of uploaded pictures. */
  attachments?: Array<string> | null;
  /** The client's id of this message. A repeated request with the same id and content returns the existing turn. */
  client_turn_id?: string | null;
  /** How much work the answer may take: quick: one search; normal: a few steps if needed; thorough: a plan, then as many steps as the limits allow. Default: that of the server. */
  effort?: "quick" | "normal" | "thorough" | "" | null;
  /** true: also searches the web. Otherwise searches the web if the message asks for current information. */
  enable_web_search?: boolean | null;
  /** The user's message. */
  message: string;
  /** The model that answers, one of those that /api/config lists. Default: the conversation's. Ignored where people cannot choose. */
  model?: string | null;
  /** What to do if another turn is running in the conversation. */
  on_busy?: "supersede" | "enqueue" | "reject" | "rollback" | "steer" | "" | null;
  /** What to do with the turn when this client disconnects and no other client follows it. */
  on_disconnect?: "continue" | "cancel" | "" | null;
  /** The checkpoint that the turn follows. */
  parent_checkpoint_id?: string | null;
  references?: Array<string> | null;
  /** A turn that waits (on_busy: enqueue). This message takes its place, and it disappears from the history. */
  replaces?: string | null;
  space_id?: string | null;
  /** Ids of spaces whose documents a conversation in no space reads, too, from this message on. */
  space_ids?: Array<string> | null;
  /** messages: omits statuses, tokens, and tool calls that did not need approval. events: sends all events. */
  stream_mode?: "events" | "messages" | "" | null;
  /** The client's id of this request. */
  stream_run_id?: string | null;
  stream_tokens?: boolean | null;
  /** Ids of documents that the message is about. */
  tagged_doc_ids?: Array<string> | null;
  /** Ids of document sets that the message is about. */
  tagged_set_ids?: Array<string> | null;
  /** For the first message of a conversation: it is in no list, and is deleted once a day when it is idle. */
  temporary?: boolean | null;
  /** The conversation's id, a UUID. Default: a new conversation. */
  thread_id?: string | null;
  /** The user's time zone, such as Europe/Berlin, for times in answers. Default: the server's. */
  time_zone?: string | null;
  /** The message as a TipTap document, at most 256 kB. */
  tiptap_json?: Record<string, unknown> | null;
  /** never: does not search the web, whatever the message asks for. */
  web_search?: "never" | "" | null;
};

export type NativeError = {
  citations?: Array<Citation>;
  /** A stable error code for programs. */
  code: string;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id?: string;
  /** A message for people. */
  message: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  partial?: string;
  /** Whether the same message may succeed as a new turn. */
  retryable: boolean;
  /** The client's id of this request. */
  stream_run_id?: string;
  turn_id: string;
  type: "error";
  unverified?: Array<string>;
};

export type NativeEvent = NativeStatus | NativeToken | NativeThought | NativeReasoning | NativeToolCall | NativeToolResult | NativeNotice | NativeInterrupt | NativeResponse | NativeCancelled | NativeError;

export type NativeInterrupt = {
  /** The checkpoint, which a later turn can follow. */
  checkpoint_id: string;
  closest?: Array<Citation>;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id?: string;
  /** The id of the question. */
  interrupt_id: string;
  interrupt_type?: "action_choice" | "doc_choice" | "text_input" | "retrieval_low" | "tool_approval" | "choice" | "cancel";
  /** A message for people. */
  message: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  options?: Array<Option>;
  /** The client's id of this request. */
  stream_run_id?: string;
  thread_id: string;
  tool_calls?: Array<ToolCall>;
  tools?: Array<ToolInfo>;
  turn_id: string;
  type: "interrupt";
};

export type NativeNotice = {
  /** A stable error code for programs. */
  code: string;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  /** A message for people. */
  message: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  /** The client's id of this request. */
  stream_run_id?: string;
  type: "notice";
};

export type NativeReasoning = {
  content: string;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  /** The client's id of this request. */
  stream_run_id?: string;
  took_ms: number;
  type: "reasoning";
};

export type NativeResponse = {
  /** What to do with the message. Empty or null: inferred from the message. */
  action: "summarize" | "inquire" | "compare" | "audit" | "";
  /** The checkpoint, which a later turn can follow. */
  checkpoint_id: string;
  citations: Array<Citation>;
  cost_usd: number | null;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  finish_reason: "stop" | "length" | "content_filter" | "other";
  inference_confidence: "" | "high" | "medium" | "low";
  /** The model that answers, one of those that /api/config lists. Default: the conversation's. Ignored where people cannot choose. */
  model?: string;
  response: string;
  retrieval_confidence: "" | "high" | "medium" | "low";
  /** The client's id of this request. */
  stream_run_id?: string;
  thread_id: string;
  tokens_used: number;
  turn_id: string;
  type: "response";
  unverified?: Array<string>;
  web_searches?: number;
};

export type NativeResumeBody = {
  /** The id of the question. */
  interrupt_id?: string | null;
  resume_value: ResumeValueBody;
  /** messages: omits statuses, tokens, and tool calls that did not need approval. events: sends all events. */
  stream_mode?: "events" | "messages" | "" | null;
  stream_tokens?: boolean | null;
  thread_id: string;
};

export type NativeStatus = {
  /** The documents that this step has selected. */
  docs_found?: Array<DocRef>;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  /** A message for people. */
  message: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  node: string;
  so_far?: SoFar;
  /** The client's id of this request. */
  stream_run_id?: string;
  /** The id of the tool call. */
  tool_call_id?: string;
  type: "status";
  web_query?: string;
};

export type NativeThought = {
  content: string;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  offset: number;
  /** The client's id of this request. */
  stream_run_id?: string;
  type: "thought";
};

export type NativeToken = {
  content: string;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  /** The client's id of this request. */
  stream_run_id?: string;
  type: "token";
};

export type NativeToolCall = {
  arguments: Record<string, unknown>;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  id: string;
  name: string;
  /** The client's id of this request. */
  stream_run_id?: string;
  type: "tool_call";
};

export type NativeToolResult = {
  content: string;
  /** The position of the event. Send it as Last-Event-ID to continue the stream after it. */
  event_id: string;
  is_error: boolean;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  name: string;
  /** The client's id of this request. */
  stream_run_id?: string;
  /** The id of the tool call. */
  tool_call_id: string;
  type: "tool_result";
};

export type Option = {
  id: string;
  label: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
};

export type Problem = {
  field: string;
  /** The code of the text for people in the same object (docs/errors.md). Absent: the text is not one of Palaver's. */
  message_code?: string;
  /** The values in the text, by name. A value with message_code is another text. */
  message_params?: Record<string, unknown>;
  problem: string;
};

export type ResumeValueBody = {
  /** One decision for each tool call in the question. */
  decisions?: Array<DecisionBody> | null;
  /** Ids of documents that the message is about. */
  tagged_doc_ids?: Array<string> | null;
  /** Ids of document sets that the message is about. */
  tagged_set_ids?: Array<string> | null;
  /** The message as a TipTap document, at most 256 kB. */
  tiptap_json?: Record<string, unknown> | null;
  /** The question's type. cancel stops the turn. answer (LangGraph) fits any question. */
  type: "action_choice" | "doc_choice" | "text_input" | "retrieval_low" | "tool_approval" | "choice" | "cancel" | "answer";
  /** An option's id or a text. */
  value?: string | null;
};

export type Search = {
  embedding?: Embedding;
  hits: Array<Hit>;
};

export type Set = {
  doc_ids: Array<string>;
  id: string;
  name: string;
};

export type SetList = {
  items: Array<Set>;
  /** The cursor of the next page. Absent on the last page. */
  next_cursor?: string;
};

export type SoFar = {
  calls: number;
  cost_usd?: number | null;
  tokens_used: number;
  took_ms: number;
};

export type ToolCall = {
  arguments: Record<string, unknown>;
  editable: boolean;
  id: string;
  name: string;
};

export type ToolInfo = {
  description: string;
  effect: "reads" | "changes" | "destroys";
  name: string;
  /** The JSON schema of the arguments. Absent if it is too large to be sent. */
  schema?: Record<string, unknown>;
  server?: string;
};
