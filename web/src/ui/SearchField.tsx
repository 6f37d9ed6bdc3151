import { Search, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { words } from "../words";
import { IconButton } from "./Button";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** Called for arrow down, which moves from the field to the list. */
  onDown?: () => void;
  onEnter?: () => void;
  className?: string;
}

/** A field that filters a list. Escape and its button clear it. */
export function SearchField({ label, value, onChange, onDown, onEnter, className = "" }: Props) {
  const onKey = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing || e.keyCode === 229) return; // the same check as composing(), inlined to save a chunk
    const act = { ArrowDown: onDown, Enter: onEnter, Escape: value === "" ? undefined : () => onChange("") }[e.key];
    if (!act) return;
    e.preventDefault(); // otherwise Escape would stop the answer as well
    act();
  };
  return (
    <div className={`relative ${className}`}>
      <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted" />
      <input
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={words.shell.search}
        value={value}
        maxLength={200}
        onChange={(e) => onChange(e.target.value)}
        onKeyDown={onKey}
        className="h-9 w-full rounded-lg bg-sunken pr-9 pl-9 text-sm pointer-coarse:h-11 pointer-coarse:pr-11 outline-offset-0 placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
      />
      {value !== "" && <IconButton label={words.shell.clearSearch} icon={X} size="small" className="absolute inset-y-0 right-0.5 my-auto" onClick={() => onChange("")} />}
    </div>
  );
}
