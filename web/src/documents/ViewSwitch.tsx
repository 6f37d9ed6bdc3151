import { lazy, useState } from "react";
import { words } from "../words";
import { useLibrary } from "./library";
import type { PagesProps } from "./pages/Pages";

/** Shows the pages of a PDF. If this chunk with pdf.js cannot be loaded, it calls onFail, and the text is shown instead. */
export const Pages = lazy(() => import("./pages/Pages").catch(() => ({ default: Unloaded })));

function Unloaded({ onFail }: PagesProps) {
  queueMicrotask(onFail);
  return <></>;
}

type View = "pages" | "text";

let last: View = "pages"; // the last choice, also for the next document

/** How a document is shown: as pages if it is a PDF whose pages can be shown, else as text. */
export function useView(id: string, hasPages: boolean) {
  const { docs } = useLibrary();
  const [chosen, setChosen] = useState<View>(last);
  const [failed, setFailed] = useState("");
  const possible = failed !== id && (hasPages || docs.find((d) => d.id === id)?.format === "pdf");
  return {
    view: possible ? chosen : ("text" as const),
    /** Whether the pages could not be shown. */
    failed: failed === id,
    possible,
    choose: (view: View) => {
      last = view;
      setChosen(view);
    },
    fail: () => setFailed(id),
  };
}

/** Chooses between the pages and the text of a PDF. */
export function ViewSwitch({ view, onChoose }: { view: View; onChoose: (view: View) => void }) {
  const button = (to: View, label: string) => (
    <button
      type="button"
      aria-pressed={view === to}
      onClick={() => onChoose(to)}
      className="h-8 rounded-md px-3 text-sm text-muted pointer-coarse:h-11 hover:text-ink aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-soft"
    >
      {label}
    </button>
  );
  return (
    <div role="group" aria-label={words.library.view} className="flex shrink-0 items-center rounded-lg bg-sunken p-0.5">
      {button("pages", words.library.pages)}
      {button("text", words.library.text)}
    </div>
  );
}
