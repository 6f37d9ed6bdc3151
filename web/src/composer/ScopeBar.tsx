import { ListFilter, X } from "lucide-react";
import { Suspense, useEffect, useState } from "react";
import { useConfig } from "../api/useConfig";
import { useLibrary } from "../documents/library";
import { useSpaces } from "../spaces/spaces";
import { IconButton } from "../ui/Button";
import { lazy } from "../ui/lazy";
import { words } from "../words";
import { backToMessage } from "./focus";
import { keepSpaces, setScope, useScope } from "./scope";

const ScopeDialog = lazy(() => import("./ScopeDialog"));

/** Shows what the answers of a thread may use, if not everything, and lets the user change that. */
export function ScopeRow({ threadId }: { threadId: string | null }) {
  const scope = useScope(threadId);
  const spaces = useSpaces();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (spaces) keepSpaces(threadId, new Set(spaces.filter((s) => !s.deleted_at).map((s) => s.id)));
  }, [threadId, scope, spaces]);
  if (!scope) return null;
  const names = [...scope.sets, ...scope.docs].map((d) => d.title);
  const rest = [...(scope.spaces ? [words.composer.also(scope.spaces.map((s) => s.title))] : []), ...(scope.noWeb ? [words.composer.noWeb] : [])];
  const limits = [...(names.length > 0 ? [words.composer.only(names)] : []), ...rest].join(", ");
  const short = names.length > 2 ? [words.composer.onlySome(names.length), ...rest].join(", ") : limits;
  return (
    <div className="flex items-center gap-1 px-3 pt-2 text-sm">
      <button type="button" aria-label={limits} title={limits} className="pill min-w-0 text-accent hover:border-edge pointer-coarse:min-h-11" onClick={() => setOpen(true)}>
        <ListFilter aria-hidden className="size-3.5 shrink-0" />
        <span dir="auto" className="truncate">
          {short}
        </span>
      </button>
      <IconButton size="small" icon={X} label={words.composer.useAll} onClick={() => (setScope(threadId, null), backToMessage())} />
      {open && (
        <Suspense fallback={null}>
          <ScopeDialog threadId={threadId} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Opens the dialog for what the answers of a thread may use. */
export function ScopeButton({ threadId, disabled }: { threadId: string | null; disabled: boolean }) {
  const { docs } = useLibrary();
  const { webSearch } = useConfig();
  const scope = useScope(threadId);
  const [open, setOpen] = useState(false);
  const spaces = useSpaces();
  if (docs.length < 2 && !scope && !webSearch && !spaces?.length) return null;
  return (
    <>
      <button
        type="button"
        aria-label={scope ? words.composer.chooseDocuments : `${words.composer.chooseDocuments}: ${words.library.allDocuments}`}
        title={words.composer.chooseDocuments}
        aria-haspopup="dialog"
        disabled={disabled}
        className="inline-flex h-9 min-w-9 shrink-0 items-center justify-center gap-1.5 rounded-lg px-2 text-sm text-muted transition-colors pointer-coarse:h-11 pointer-coarse:min-w-11 hover:bg-sunken hover:text-ink disabled:pointer-events-none disabled:opacity-40"
        onClick={() => setOpen(true)}
      >
        <ListFilter aria-hidden className="size-[1.15rem] shrink-0" />
        {!scope && <span className="max-sm:hidden">{words.library.allDocuments}</span>}
      </button>
      {open && (
        <Suspense fallback={null}>
          <ScopeDialog threadId={threadId} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
