import { useMemo } from "react";
import { wordDiff } from "./diff";

/** Shows the difference of two texts: removed words are struck out, added words are underlined. */
export function Diff({ before, after }: { before: string; after: string }) {
  const pieces = useMemo(() => wordDiff(before, after), [before, after]);
  return (
    <p dir="auto" tabIndex={0} className="mt-0.5 max-h-48 overflow-y-auto rounded-lg bg-sunken px-3 py-2 whitespace-pre-wrap text-ink">
      {pieces.map((p, i) =>
        p.change === "removed" ? (
          <del key={i} className="rounded bg-bad-soft text-bad decoration-1">
            {p.text}
          </del>
        ) : p.change === "added" ? (
          <ins key={i} className="rounded bg-accent-soft text-accent decoration-1 underline-offset-2">
            {p.text}
          </ins>
        ) : (
          p.text
        ),
      )}
    </p>
  );
}
