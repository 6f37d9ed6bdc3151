import { ChevronDown, ChevronUp, X } from "lucide-react";
import { useEffect, useRef, type KeyboardEvent } from "react";
import { IconButton } from "../ui/Button";
import { composing } from "../ui/composing";
import { words } from "../words";
import type { Find } from "./useFind";

/** Finds words in the conversation. Enter goes to the next match, Shift+Enter to the one before, Esc closes the bar. */
export function FindBar({ find: { search, setSearch, count, at, go, close, opened, loading } }: { find: Find }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [opened]); // also when the bar is asked for again
  const onKey = (e: KeyboardEvent) => {
    if (composing(e.nativeEvent)) return;
    if (e.key === "Enter") go(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") close();
    else return;
    e.preventDefault(); // Esc must not stop the answer
    e.stopPropagation();
  };
  const state = search.trim() === "" ? "" : count > 0 ? words.library.matchOf(at + 1, count) : loading ? words.thread.readingOlder : words.composer.noMatches;
  return (
    <search aria-label={words.thread.find} onKeyDown={onKey} className="absolute inset-x-0 top-0 z-20 mx-auto flex w-full max-w-3xl items-center gap-1 rounded-b-xl border border-t-0 border-line bg-surface px-3 py-1.5 shadow-float">
      <input
        ref={input}
        type="search"
        dir="auto"
        aria-label={words.thread.find}
        placeholder={words.thread.find}
        enterKeyHint="search"
        autoComplete="off"
        value={search}
        maxLength={200}
        onChange={(e) => setSearch(e.target.value)}
        className="h-9 min-w-0 flex-1 rounded-lg bg-sunken px-3 text-sm pointer-coarse:h-11 placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
      />
      <span role="status" className="shrink-0 px-1 text-sm text-muted tabular-nums">
        {state}
      </span>
      <IconButton size="small" icon={ChevronUp} label={words.library.previousMatch} disabled={count === 0} onClick={() => go(-1)} />
      <IconButton size="small" icon={ChevronDown} label={words.library.nextMatch} disabled={count === 0} onClick={() => go(1)} />
      <IconButton size="small" icon={X} label={words.common.close(words.thread.find)} onClick={close} />
    </search>
  );
}
