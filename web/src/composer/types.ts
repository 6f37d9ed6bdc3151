import type { Action } from "../api/types";

/** A picture that is already on the server: POST /api/attachments has answered. */
export interface Attachment {
  id: string;
  url: string;
  mime: string;
  name: string;
}

/**
 * What the composer hands over when a person sends: the words as text and as
 * a TipTap document, what was mentioned in them, and the pictures. It is JSON,
 * so that a message that waits for its thread survives a reload.
 */
export interface Outgoing {
  /** The message as plain text; a mention stands in it as "@title". Never blank, but for a message of pictures alone. */
  text: string;
  /** The TipTap document, for tiptap_json. */
  tiptap: object;
  taggedDocIds: string[];
  taggedSetIds: string[];
  action?: Action;
  webSearch: boolean;
  attachments: Attachment[];
  /** What is to happen to a turn that runs: talk over it, or wait for its end. */
  onBusy: "supersede" | "enqueue";
}

/** Puts the caret into the composer, and with "mentions" opens the list of documents to mention. */
export interface ComposerHandle {
  focus(): void;
  mention(): void;
  /** Replaces what stands in the composer. */
  fill(text: string): void;
}
