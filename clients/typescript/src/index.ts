import { Http, query, withBody, type ClientOptions } from "./http.ts";
import type { Attachment, Conversation, ConversationList, ConversationPatchBody, Document, Documents, Search, SetList } from "./openapi.ts";
import { Thread } from "./thread.ts";
import { upload, type UploadOptions } from "./upload.ts";

export { ApiError, type Detail } from "./errors.ts";
export { ConnectionLost, type TurnEvent } from "./follow.ts";
export type { ClientOptions, Token } from "./http.ts";
export type * from "./openapi.ts";
export { Thread, type Answer, type ChatMessage, type Outgoing, type SendOptions, type ThreadState } from "./thread.ts";
export { Turn, type ToolUse, type TurnState } from "./turn.ts";
export type { UploadOptions } from "./upload.ts";

export type Client = ReturnType<typeof createClient>;

/** A client of the installation at baseUrl. */
export function createClient(options: ClientOptions = {}) {
  const http = new Http(options);
  return {
    /** The conversation with this id, a UUID; without one, a new conversation. */
    thread: (id?: string): Thread => new Thread(http, id),

    conversations: {
      list: (options: { q?: string; archived?: boolean; cursor?: string; limit?: number } = {}) => http.json<ConversationList>("GET", `/api/conversations${query(options)}`),
      get: (id: string) => http.json<Conversation>("GET", `/api/conversations/${id}`),
      update: (id: string, change: ConversationPatchBody) => http.json<Conversation>("PATCH", `/api/conversations/${id}`, change),
      delete: (id: string) => http.json<void>("DELETE", `/api/conversations/${id}`),
    },

    documents: {
      list: (options: { conversation_id?: string; cursor?: string; limit?: number } = {}) => http.json<Documents>("GET", `/api/documents${query(options)}`),
      get: (id: string) => http.json<Document>("GET", `/api/documents/${id}`),
      upload: (file: File, { title, conversation_id, ...options }: UploadOptions & { title?: string; conversation_id?: string } = {}) => upload<Document>(http, "/api/documents", file, { title, conversation_id }, options),
      /** The file as it was uploaded. */
      original: async (id: string) => (await http.request(`/api/documents/${id}/original`)).blob(),
      delete: (id: string) => http.json<void>("DELETE", `/api/documents/${id}`),
      sets: () => http.json<SetList>("GET", "/api/document-sets"),
    },

    /** Uploads a picture; its id goes into a message's attachments. */
    attach: (picture: File, options: UploadOptions = {}) => upload<Attachment>(http, "/api/attachments", picture, {}, options),

    /** The passages that answers would use, the best first. */
    search: (q: string, options: { doc_ids?: readonly string[]; k?: number; conversation_id?: string } = {}) => http.json<Search>("GET", `/api/search${query({ q, ...options, doc_ids: options.doc_ids?.join(",") })}`),

    /** Any other request of the API, with the token; rejects with an ApiError. */
    request: (method: string, path: string, body?: unknown) => http.request(path, withBody(method, body)),
  };
}
