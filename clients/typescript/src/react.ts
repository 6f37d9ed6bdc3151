import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Client, Thread, ThreadState } from "./index.ts";

export type UseThread = ThreadState & Pick<Thread, "id" | "send" | "answer" | "decide" | "stop"> & { thread: Thread };

/**
 * A conversation and its state: it is loaded, and attached to the turn that runs. The client
 * must be the same one in each render. Without an id it is a new conversation.
 */
export function useThread(client: Client, id?: string): UseThread {
  const thread = useMemo(() => client.thread(id), [client, id]);
  const state = useSyncExternalStore(thread.subscribe, thread.snapshot, thread.snapshot);
  useEffect(() => {
    if (id) thread.load().catch(() => undefined); // a message can be sent nevertheless
    return () => thread.detach();
  }, [thread, id]);
  return useMemo(
    () => ({
      ...state,
      thread,
      id: thread.id,
      send: (...sent) => thread.send(...sent),
      answer: (value) => thread.answer(value),
      decide: (decision) => thread.decide(decision),
      stop: () => thread.stop(),
    }),
    [state, thread],
  );
}
