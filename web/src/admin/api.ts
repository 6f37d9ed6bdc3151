import { useInfiniteQuery } from "@tanstack/react-query";
import type { Coded } from "../api/coded";
import { getJSON } from "../api/http";

/** The sections of the page, which are also the routes below /api/admin. */
export const SECTIONS = ["people", "usage", "limits", "audit", "feedback", "documents", "tools", "status"] as const;
export type Section = (typeof SECTIONS)[number];

export interface Person {
  id: string;
  known_as?: string;
  last_used: string;
  conversations: number;
  documents: number;
  storage_bytes: number;
  tokens_today: number;
  cost_usd_today: number;
}

export interface ModelUsage {
  day: string;
  model: string;
  calls: number;
  unpriced_calls?: number;
  tokens_in: number;
  tokens_out: number;
  cost_usd: number;
}

export interface Limit {
  name: string;
  of: string;
  limit: number;
  seconds?: number;
}

export interface AuditEntry {
  id: number;
  at: string;
  kind: string;
  owner?: string;
  channel?: string;
  address?: string;
  times: number;
  detail?: Record<string, unknown>;
}

export interface RatedTurn {
  owner: string;
  conversation_id: string;
  turn_id: string;
  rating: "up" | "down";
  reason?: string;
  shared?: boolean;
  question?: string;
  answer?: string;
  updated_at: string;
}

export interface FailedDocument extends Coded {
  id: string;
  owner: string;
  source?: string;
  format?: string;
  bytes: number;
  reason: string;
  created_at: string;
}

export interface ToolServer {
  name: string;
  state: string;
  tools: number;
  notes?: { tool?: string; problem: string; left_out?: boolean }[] | null;
}

export interface Status {
  version: string;
  commit: string;
  date: string;
  ready: boolean;
  parts: Record<string, string>;
  down: string[];
}

interface ListPage<T> {
  items?: T[] | null;
  next_cursor?: string;
}

/** Reads a section page by page. It is read again only when the person asks for it, because each look is in the audit log. */
export function useSection<P extends ListPage<unknown> | Status>(section: Section) {
  return useInfiniteQuery({
    queryKey: ["admin", section],
    queryFn: ({ signal, pageParam }) => getJSON<P>(`/api/admin/${section}${pageParam && `?cursor=${encodeURIComponent(pageParam)}`}`, { signal }),
    initialPageParam: "",
    getNextPageParam: (last: P) => ("next_cursor" in last && last.next_cursor) || undefined,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}
