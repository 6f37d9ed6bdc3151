import { useState } from "react";
import { words } from "../words";
import type { SignInProblem } from "./problems";

/** State of a form that is being sent, and its problem. leaves: the page navigates away after a success, so the form stays busy. */
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
