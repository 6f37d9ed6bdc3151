import { useCallback, useEffect, useMemo, useReducer, useRef } from "react";
import * as client from "../api/client";
import { ApiError } from "../api/http";
import type { ResumeValue, SubmitBody } from "../api/types";
import { newId } from "../lib/id";
import { Runner } from "./runner";
import { emptyThread, reduce } from "./thread";

export type Draft = Omit<SubmitBody, "thread_id" | "client_turn_id">;

/** The thread of the address bar: its state, and what a person can do with it. */
export function useThread(routeId: string | null, onNew: (id: string) => void) {
  const [thread, dispatch] = useReducer(reduce, emptyThread);
  const runner = useMemo(() => new Runner(dispatch), []);
  const current = useRef(thread);
  current.current = thread;
  const shown = useRef<string | null>(null);

  useEffect(() => {
    if (routeId === shown.current) return;
    shown.current = routeId;
    runner.detach();
    dispatch({ type: "show", id: routeId });
    if (routeId) void runner.load(routeId);
  }, [routeId, runner]);

  useEffect(() => {
    const hurry = () => runner.hurry();
    window.addEventListener("online", hurry);
    document.addEventListener("visibilitychange", hurry);
    return () => {
      window.removeEventListener("online", hurry);
      document.removeEventListener("visibilitychange", hurry);
    };
  }, [runner]);

  const send = useCallback(
    (draft: Draft) => {
      const id = current.current.id ?? newId();
      const body: SubmitBody = { ...draft, thread_id: id, client_turn_id: newId() };
      dispatch({ type: "sent", body });
      if (shown.current !== id) {
        shown.current = id;
        onNew(id);
      }
      void runner.submit(body);
    },
    [onNew, runner],
  );

  const answer = useCallback(
    (value: ResumeValue, label: string) => {
      const { id, interrupt } = current.current;
      if (!id || !interrupt) return;
      dispatch({ type: "answered", label });
      void runner.resume({ thread_id: id, interrupt_id: interrupt.interrupt_id, resume_value: value }, interrupt);
    },
    [runner],
  );

  const stop = useCallback(() => {
    const { id, live } = current.current;
    if (!id || !live || live.stopping) return;
    dispatch({ type: "stopping" });
    const which = live.turnId ? { turn_id: live.turnId } : { client_turn_id: live.clientTurnId };
    client.cancel({ thread_id: id, ...which }).catch((err: unknown) => {
      dispatch({ type: "refused", problem: { message: err instanceof ApiError ? err.message : "The turn could not be stopped.", retry: "reload" } });
      runner.detach();
    });
  }, [runner]);

  const retry = useCallback(() => {
    const { id, problem, sent } = current.current;
    if (problem?.retry === "same" && sent) {
      dispatch({ type: "resent", body: sent });
      void runner.submit(sent);
    } else if (problem?.retry === "new" && sent) {
      const { thread_id: _, client_turn_id: __, ...draft } = sent;
      send(draft);
    } else if (id) {
      void runner.load(id);
    }
  }, [runner, send]);

  const dismiss = useCallback(() => dispatch({ type: "dismissed" }), []);

  return { thread, send, answer, stop, retry, dismiss };
}
