import { ListFilter, X } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useLibrary } from "../documents/library";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import { setScope, useScope } from "./scope";

const ScopeDialog = lazy(() => import("./ScopeDialog"));

/** Shows which documents a thread may use, if not all, and lets the user change that. */
export function ScopeRow({ threadId }: { threadId: string | null }) {
  const scope = useScope(threadId);
  const [open, setOpen] = useState(false);
  if (!scope) return null;
  const names = [...scope.sets, ...scope.docs].map((d) => d.title);
  return (
    <div className="flex items-center gap-1 px-3 pt-2 text-sm">
      <button type="button" aria-label={words.composer.only(names)} title={words.composer.only(names)} className="pill min-w-0 text-accent hover:border-edge pointer-coarse:min-h-11" onClick={() => setOpen(true)}>
        <ListFilter aria-hidden className="size-3.5 shrink-0" />
        <span dir="auto" className="truncate">
          {names.length > 2 ? words.composer.onlySome(names.length) : words.composer.only(names)}
        </span>
      </button>
      <IconButton size="small" icon={X} label={words.composer.useAll} onClick={() => setScope(threadId, null)} />
      {open && (
        <Suspense fallback={null}>
          <ScopeDialog threadId={threadId} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Opens the dialog for the documents that a thread may use. */
export function ScopeButton({ threadId, disabled }: { threadId: string | null; disabled: boolean }) {
  const { docs } = useLibrary();
  const scope = useScope(threadId);
  const [open, setOpen] = useState(false);
  if (docs.length < 2 && !scope) return null;
  return (
    <>
      <IconButton icon={ListFilter} label={words.composer.chooseDocuments} disabled={disabled} aria-haspopup="dialog" onClick={() => setOpen(true)} />
      {open && (
        <Suspense fallback={null}>
          <ScopeDialog threadId={threadId} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
