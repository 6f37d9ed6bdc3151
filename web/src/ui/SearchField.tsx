import { Search, X } from "lucide-react";
import { IconButton } from "./Button";

interface Props {
  label: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
}

/** A field that narrows a list down; Escape and its button empty it. */
export function SearchField({ label, value, onChange, className = "" }: Props) {
  return (
    <div className={`relative ${className}`}>
      <Search aria-hidden className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted" />
      <input
        type="search"
        dir="auto"
        aria-label={label}
        placeholder="Search"
        value={value}
        maxLength={200}
        onChange={(e) => onChange(e.target.value)}
        onKeyDown={(e) => {
          if (e.key !== "Escape" || value === "" || e.nativeEvent.isComposing || e.keyCode === 229) return; // as composing(), which would be a file of its own for the browser to load
          e.preventDefault(); // it does not stop the answer, too
          onChange("");
        }}
        className="h-9 w-full rounded-lg bg-sunken pr-9 pl-9 text-sm outline-offset-0 placeholder:text-muted [&::-webkit-search-cancel-button]:hidden"
      />
      {value !== "" && <IconButton label="Clear the search" icon={X} size="small" className="absolute top-0.5 right-0.5" onClick={() => onChange("")} />}
    </div>
  );
}
