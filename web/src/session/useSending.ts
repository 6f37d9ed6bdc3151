import { useState } from "react";
import { words } from "../words";
import type { SignInProblem } from "./problems";

/** Sends one form at a time and keeps its problem. With leaves the page goes on elsewhere after a success, so the form stays busy. */
export function useSending() {
  const [problem, setProblem] = useState<SignInProblem>();
  const [busy, setBusy] = useState(false);
  const run = async (send: () => Promise<SignInProblem | undefined>, leaves: boolean): Promise<boolean> => {
    setBusy(true);
    setProblem(undefined);
    let wrong: SignInProblem | undefined;
    try {
      wrong = await send();
    } catch {
      wrong = { text: words.signIn.problems.unreachable };
    }
    setProblem(wrong);
    if (wrong || !leaves) setBusy(false);
    return !wrong;
  };
  return { problem, setProblem, busy, run };
}
