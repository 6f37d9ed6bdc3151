import type { Upload } from "../api/uploads";
import { words } from "../words";

/** Tells screen readers which files were rejected: one sentence for the whole batch. */
export function Refused({ uploads }: { uploads: readonly Upload[] }) {
  const why = uploads.flatMap((u) => u.error ?? []);
  if (why.length === 0) return null;
  return (
    <p role="alert" className="sr-only">
      {why.length > 1 ? words.library.notAdded(why.length) : why[0]}
    </p>
  );
}
