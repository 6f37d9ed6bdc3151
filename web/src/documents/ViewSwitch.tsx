import { useState } from "react";
import { local } from "../lib/storage";
import { lazy, loaded } from "../ui/lazy";
import { words } from "../words";
import { useLibrary } from "./library";
import type { PagesProps } from "./pages/Pages";

/** Shows the pages of a PDF, or a picture. If this chunk with pdf.js cannot be loaded, it calls onFail, and the text is shown instead. */
export const Pages = lazy(() => loaded(() => import("./pages/Pages")).catch(() => ({ default: Unloaded })));

function Unloaded({ onFail }: PagesProps) {
  queueMicrotask(onFail);
  return <></>;
}

type View = "pages" | "text";

/** Where the choice for a type of document is kept. */
const chosenFor = (format: string) => `palaver.view.${format}`;

const PAGED = ["pdf", "png", "jpeg", "tiff", "webp", "gif"];

/** How a document is shown: as pages if it is a PDF or a picture that can be shown, else as text. The choice counts for all documents of its type. */
export function useView(id: string, hasPages: boolean) {
  const { docs } = useLibrary();
  const [, chosen] = useState(0);
  const [failed, setFailed] = useState("");
  const format = docs.find((d) => d.id === id)?.format ?? (hasPages ? "pdf" : "");
  const possible = failed !== id && PAGED.includes(format);
  return {
    view: possible && local.read(chosenFor(format)) !== "text" ? ("pages" as const) : ("text" as const),
    /** Whether the pages could not be shown. */
    failed: failed === id,
    possible,
    choose: (view: View) => {
      local.write(chosenFor(format), view);
      chosen((n) => n + 1);
    },
    fail: () => setFailed(id),
  };
}

/** Chooses between the pages and the text of a document. */
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
