import { Users } from "lucide-react";
import type { Conversation } from "../api/types";
import { words } from "../words";
import { usePeople } from "./people";

/** Marks a conversation that is shared with its space: who shares it, or an icon for the person's own. */
export function SharedMark({ conversation: c, named = false }: { conversation: Conversation; named?: boolean }) {
  const people = usePeople();
  if (!c.author && !c.shared) return null;
  const label = c.author ? words.spaces.sharedBy(people(c.author)) : words.spaces.shared;
  return (
    <span title={label} className="flex max-w-40 shrink-0 items-center gap-1 self-center text-xs text-muted">
      <Users aria-hidden className="size-3.5 shrink-0 text-accent" />
      <span dir="auto" className={named ? "truncate max-sm:sr-only" : "sr-only"}>
        {label}
      </span>
    </span>
  );
}
