import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import type { Problem } from "./problems";

const button = "h-8 rounded-lg border border-bad px-3 font-medium tabular-nums hover:bg-surface disabled:opacity-80";

/** Shows a problem and what the user can do about it. */
export function ProblemBar({ problem, onRetry, onDismiss }: { problem: Problem; onRetry: () => void; onDismiss: () => void }) {
  const wait = useCountdown(problem.until);
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-xl bg-bad-soft py-2 pr-2 pl-4 text-sm text-bad">
      <p role="alert" className="min-w-48 flex-1">
        {problem.message}
      </p>
      {problem.retry && (
        <button type="button" disabled={wait > 0} className={button} onClick={onRetry}>
          {wait > 0 ? words.common.tryAgainIn(wait) : words.common.tryAgain}
        </button>
      )}
      {problem.change && (
        <button type="button" className={button} onClick={onDismiss}>
          {words.problems.change}
        </button>
      )}
      <IconButton size="small" icon={X} label={words.common.dismiss} className="text-bad!" onClick={onDismiss} />
    </div>
  );
}

/** Seconds until a time in ms since 1970, rounded up. */
function useCountdown(until: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  const left = until === undefined ? 0 : Math.max(0, Math.ceil((until - now) / 1000));
  useEffect(() => {
    setNow(Date.now());
    if (until === undefined) return;
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [until]);
  return left;
}
