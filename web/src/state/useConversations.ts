import { useCallback, useEffect, useState } from "react";
import * as client from "../api/client";
import { ApiError } from "../api/http";
import type { Conversation } from "../api/types";

export function useConversations() {
  const [items, setItems] = useState<Conversation[]>([]);
  const [problem, setProblem] = useState("");

  const refresh = useCallback(async () => {
    try {
      setItems(await client.conversations());
      setProblem("");
    } catch (err) {
      setProblem(err instanceof ApiError ? err.message : "The conversations could not be read.");
    }
  }, []);

  useEffect(() => void refresh(), [refresh]);

  const remove = useCallback(
    async (id: string) => {
      try {
        await client.deleteConversation(id);
      } catch (err) {
        if (!(err instanceof ApiError && err.status === 404)) setProblem(err instanceof ApiError ? err.message : "It could not be deleted.");
      }
      await refresh();
    },
    [refresh],
  );

  return { items, problem, refresh, remove };
}
