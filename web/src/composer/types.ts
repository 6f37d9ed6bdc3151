import type { Ref } from "react";
import type { Mentionable } from "./mentions";
import type { Mention, MessageContent } from "./outgoing";

/** An uploaded image, as POST /api/attachments returns it. */
export interface Attachment {
  id: string;
  url: string;
  mime: string;
  name: string;
}

/**
 * What the composer sends: the message and its images. It is JSON, so that a
 * message that waits for its thread survives a reload.
 */
export interface Outgoing extends MessageContent {
  attachments: Attachment[];
  /** What to do if a turn is running: supersede stops it, enqueue waits for its end, steer lets it read the message before its next step. */
  onBusy: "supersede" | "enqueue" | "steer";
  /** The agent that answers it; absent means the agent of the previous turn. */
  agent?: string;
  /** How much work the answer may take; absent: as the server is set. */
  effort?: string;
  /** Whether the conversation is deleted when it is left. */
  temporary?: true;
  /** The model that answers it; absent means that of the previous turn. */
  model?: string;
}

/** Controls the composer. mention opens the list of what can be mentioned. */
export interface ComposerHandle {
  focus(): void;
  mention(): void;
  /** Opens the file dialog. */
  pickFiles(): void;
  /** Appends a mention, and puts the caret after it. */
  append(mention: Mention): void;
  /** Begins the message with lines, before the current content, and puts the caret at its end. */
  begin(lines: string[]): void;
  /** Puts a sent message back, before the current content. */
  takeBack(out: Outgoing): void;
}

export interface ComposerProps {
  /** The thread of the draft; null means the welcome page. */
  threadId: string | null;
  /** Whether a turn runs: it can be stopped (button, Esc); a message supersedes it or is queued. */
  busy: boolean;
  /** Whether the turn is being stopped. */
  stopping?: boolean;
  /** Disables typing; the text says why. */
  disabled?: string | false;
  /** The message answers a question: text and mentions only. */
  answering?: boolean;
  /** The agent of the thread's last turn, if it has one. */
  agent?: string | undefined;
  /** The model that was chosen for the thread's last turn. */
  model?: string | undefined;
  placeholder?: string;
  /** Items of a board, which can be mentioned besides documents; mentionLabel then labels the mention button. */
  items?: readonly Mentionable[] | undefined;
  mentionLabel?: string | undefined;
  onSend(out: Outgoing): void;
  onStop(): void;
  /** Esc while no turn runs: cancels the question, for example. */
  onCancel?: (() => void) | undefined;
  ref?: Ref<ComposerHandle>;
}
