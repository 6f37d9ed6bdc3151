import type { Problem as ProblemState } from "../state/thread";
import { Icon } from "./Icon";

export function Problem({ problem, onRetry, onDismiss }: { problem: ProblemState; onRetry: () => void; onDismiss: () => void }) {
  return (
    <div role="alert" className="mb-2 flex items-center gap-3 rounded-xl bg-bad-soft px-4 py-2.5 text-sm text-bad">
      <p className="min-w-0 flex-1">{problem.message}</p>
      {problem.retry && (
        <button type="button" className="rounded-lg border border-bad px-3 py-1 font-medium hover:bg-surface" onClick={onRetry}>
          Try again
        </button>
      )}
      <button type="button" className="icon-button text-bad" aria-label="Dismiss" onClick={onDismiss}>
        <Icon name="close" className="size-4" />
      </button>
    </div>
  );
}
