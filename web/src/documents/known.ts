import { useQuery } from "@tanstack/react-query";
import type { DocRef } from "../api/types";
import { oneConversation } from "../shell/conversations";

/** The documents that a conversation uses, which a message can refer to ("those two"). */
export function useKnown(threadId: string | null, exists: boolean): DocRef[] {
  const { data } = useQuery({ ...oneConversation(threadId ?? ""), enabled: threadId !== null && exists });
  return data?.documents ?? [];
}
