import { ApiError } from "../api/http";
import { words } from "../words";
import { failure as failureText } from "../words/wire";
import { ConnectionLost } from "./connection";
import type { Metadata, Question } from "./types";

/** A problem as the user sees it, and what can be done about it. */
export interface Problem {
  message: string;
  /** What Try again does: send the same request (it joins its turn), regenerate the answer, or reload the thread. */
  retry?: "same" | "again" | "reload";
  /** Whether the message can be edited: it returns to the composer when the problem is dismissed. */
  change?: boolean;
  /** Time of the first allowed retry, in ms since 1970. */
  until?: number;
  /** Whether the answer says it, too. */
  inAnswer?: true;
}

export const UNRESTORED: Problem = {
  get message() {
    return words.problems.unrestored;
  },
  retry: "reload",
};

/** Error codes of limits that last too long for a retry. */
const LIMITS = new Set(["quota_reached", "budget_reached"]);

interface Circumstances {
  /** The question being answered. */
  question: Question | undefined;
  /** The server accepted the request. */
  taken: boolean;
  /** The user wrote a message. */
  written: boolean;
  /** The error in the answer's metadata. */
  failure: Metadata["error"];
}

/** Maps a failed request or stream to a problem. */
export function problemOf(err: Error, { question, taken, written, failure }: Circumstances): Problem {
  if (err instanceof ConnectionLost) {
    if (question) return { message: words.problems.replyNotSent, retry: "same" };
    return taken ? UNRESTORED : { message: words.problems.messageNotSent, retry: "same" };
  }
  if (err instanceof ApiError) {
    if (LIMITS.has(err.code)) return { message: err.message, change: written && !question && !taken };
    if (err.status === 429) return { message: err.message, retry: "same", until: Date.now() + Math.max(1, err.retryAfter) * 1000 };
    if (err.status >= 500) return { message: err.message, retry: "same" };
    return { message: err.message, change: written && !question && !taken };
  }
  if (failure) return { message: failureText(failure), inAnswer: true, ...(failure.retryable && { retry: "again" as const }) };
  return { message: words.problems.notShown, retry: "reload" };
}
