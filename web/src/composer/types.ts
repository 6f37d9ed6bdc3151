import type { Ref } from "react";
import type { Mentionable } from "./mentions";
import type { Mention, Node, Said } from "./outgoing";

/** A picture that is already on the server: POST /api/attachments has answered. */
export interface Attachment {
  id: string;
  url: string;
  mime: string;
  name: string;
}

/**
 * What the composer hands over when a person sends: what was said, and the
 * pictures. It is JSON, so that a message that waits for its thread survives a reload.
 */
export interface Outgoing extends Said {
  attachments: Attachment[];
  /** What is to happen to a turn that runs: talk over it, or wait for its end. */
  onBusy: "supersede" | "enqueue";
  /** Who answers; chosen with the first message of a conversation, then kept by the server. */
  agent?: string;
}

/** Puts the caret into the composer, and with "mentions" opens the list of documents to mention. */
export interface ComposerHandle {
  focus(): void;
  mention(): void;
  /** Adds a mention at the end, and puts the caret behind it. */
  append(mention: Mention): void;
  /** Puts what was sent from it back, before what stands in it now. */
  takeBack(out: Outgoing): void;
  /** Replaces it by a suggestion. */
  write(doc: Node): void;
}

export interface ComposerProps {
  /** Whose draft this is; null: the welcome page. */
  threadId: string | null;
  /** A turn runs: it can be stopped (button, Esc), and a message talks over it or waits for its end. */
  busy: boolean;
  /** The stop was sent and its end is awaited. */
  stopping?: boolean;
  /** Nothing can be typed now; the text says why. */
  disabled?: string | false;
  /** The message answers a question: words and mentions only. */
  answering?: boolean;
  placeholder?: string;
  /** The items of a board, which can be mentioned beside documents; what mentioning is for is said by mentionLabel. */
  items?: readonly Mentionable[] | undefined;
  mentionLabel?: string | undefined;
  onSend(out: Outgoing): void;
  onStop(): void;
  /** Esc while no turn runs: what the composer answers is given up. */
  onCancel?: (() => void) | undefined;
  ref?: Ref<ComposerHandle>;
}
