import { currentSpace } from "../api/space";
import { session } from "../lib/storage";
import { skipQuestion } from "./api";
import type { Question } from "./types";

// The questions that this tab has shown and that are still open. When the person sends a
// message in another conversation, they are skipped, so that they do not wait for ever.
// Approvals wait: a tool that was to run is not dropped without a word.

const KEY = "palaver.asked";

interface Asked {
  interrupt: string;
  /** Of the thread. */
  space: string;
}

function read(): Record<string, Asked> {
  const value = session.readJSON(KEY);
  return typeof value === "object" && value !== null ? (value as Record<string, Asked>) : {};
}

function write(asked: Record<string, Asked>): void {
  session.write(KEY, Object.keys(asked).length > 0 ? JSON.stringify(asked) : null);
}

/** Notes which question a thread shows; null if none is open. */
export function noteAsked(threadId: string, question: Question | null): void {
  const { [threadId]: _, ...others } = read();
  write(question && question.interrupt_type !== "tool_approval" ? { ...others, [threadId]: { interrupt: question.interrupt_id, space: currentSpace() } } : others);
}

/** Skips the noted questions of other threads. Returns whether there were any. */
export async function skipLeft(threadId: string): Promise<boolean> {
  const { [threadId]: here, ...left } = read();
  if (Object.keys(left).length === 0) return false;
  write(here === undefined ? {} : { [threadId]: here });
  await Promise.allSettled(Object.entries(left).map(([thread, { interrupt, space }]) => skipQuestion(thread, interrupt, space))); // one that was answered elsewhere is refused
  return true;
}
