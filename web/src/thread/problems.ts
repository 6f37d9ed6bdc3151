import { ApiError } from "../api/http";
import { words } from "../words";
import { failure as failureText } from "../words/wire";
import { ConnectionLost } from "./connection";
import type { Metadata, Question } from "./types";

/** What went wrong, in words for a person, and the way out. */
export interface Problem {
  message: string;
  /** What Try again does: the same request (which joins its turn), another answer to the same message, or loading the conversation again. */
  retry?: "same" | "again" | "reload";
  /** What was sent can be changed: it goes back to where one writes when the problem is put aside. */
  change?: boolean;
  /** When another try is allowed, in ms since 1970. */
  until?: number;
}

export const UNRESTORED: Problem = {
  get message() {
    return words.problems.unrestored;
  },
  retry: "reload",
};

/** Refusals that waiting a moment does not end. */
const LIMITS = new Set(["quota_reached", "budget_reached"]);

interface Circumstances {
  /** What was being answered. */
  question: Question | undefined;
  /** The server has what was sent. */
  taken: boolean;
  /** It is a person's words. */
  written: boolean;
  /** How the answer failed, as its message says. */
  failure: Metadata["error"];
}

/** What a failed request or stream means for a person. */
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
  if (failure) return { message: failureText(failure), ...(failure.retryable && { retry: "again" as const }) };
  return { message: words.problems.notShown, retry: "reload" };
}
