import { useQuery } from "@tanstack/react-query";
import { getJSON, post, request } from "../api/http";
import { refresh } from "../api/query";

export type Rating = "up" | "down";

/** What the user thinks of an answer. */
export interface Feedback {
  turn_id: string;
  rating: Rating;
  reason?: string;
  /** Whether administrators may read the question and the answer. */
  shared?: boolean;
}

/** The maximum length of a reason, in characters. */
export const MAX_REASON = 1000;

const base = (thread: string) => `/api/conversations/${encodeURIComponent(thread)}/feedback`;
const key = (thread: string) => ["feedback", thread];

/** The feedback on one answer. All answers of a thread share one request. */
export function useFeedback(thread: string, turn: string): Feedback | undefined {
  const { data } = useQuery({ queryKey: key(thread), queryFn: ({ signal }) => getJSON<{ items: Feedback[] | null }>(base(thread), { signal }), staleTime: Infinity });
  return data?.items?.find((f) => f.turn_id === turn);
}

/** Stores the feedback on an answer; null takes it back. */
export async function giveFeedback(thread: string, turn: string, given: { rating: Rating; reason?: string; shared?: boolean } | null): Promise<void> {
  const path = `${base(thread)}/${encodeURIComponent(turn)}`;
  await request(path, given ? { ...post(given), method: "PUT" } : { method: "DELETE" });
  await refresh(key(thread));
}
