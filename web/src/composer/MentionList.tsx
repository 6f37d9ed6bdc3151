import { useEffect, useLayoutEffect, useRef, useState, type MouseEvent } from "react";
import { words } from "../words";
import { Middle } from "../ui/Middle";
import { icons } from "./icons";
import type { Group, Mentionable } from "./mentions";

interface Props {
  id: string;
  groups: Group[];
  /** Index over all groups. */
  active: number;
  onPick: (m: Mentionable) => void;
}

export const optionId = (list: string, at: number): string => `${list}-${at}`;

const MOST_PX = 420;
const LEAST_PX = 120;
const MARGIN_PX = 16;
const HEADER_PX = 56; // height of the page header, which would cover the list

/** The nearest scroll container, which clips the list. */
function scrollerOf(el: Element): Element | null {
  for (let at = el.parentElement; at; at = at.parentElement) if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  return null;
}

const keepFocus = (e: MouseEvent) => e.preventDefault(); // the text keeps it

/** The list for an "@". The text keeps the focus and moves the active option. */
export function MentionList({ id, groups, active, onPick }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ above: true, height: MOST_PX });

  // The list opens on the side of the form with more room, and fits into it.
  useLayoutEffect(() => {
    const form = frame.current!.parentElement!;
    const { top, bottom } = form.getBoundingClientRect();
    const end = scrollerOf(form)?.getBoundingClientRect().bottom ?? innerHeight;
    const ceiling = form.closest("[data-mention-room]")?.getBoundingClientRect().top ?? HEADER_PX;
    const above = top - ceiling - MARGIN_PX;
    const below = end - bottom - MARGIN_PX;
    setRoom({ above: above >= below, height: Math.min(MOST_PX, Math.max(above, below, LEAST_PX)) });
  }, []);

  useEffect(() => {
    frame.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active, room]);

  let at = 0;
  return (
    <div ref={frame} data-mentions={room.above ? "above" : "below"} onMouseDown={keepFocus} style={{ maxHeight: room.height }} className={`absolute left-0 z-20 flex w-full max-w-md flex-col overflow-hidden rounded-xl border border-line bg-surface shadow-float ${room.above ? "bottom-full mb-2" : "top-full mt-2"}`}>
      <div id={id} role="listbox" aria-label={words.composer.mentionables} tabIndex={0} className="min-h-0 overflow-y-auto p-1">
        {groups.map((group) => (
          <div key={group.name} role="group" aria-label={group.name}>
            <p aria-hidden className="px-3 pt-2 pb-1 text-xs font-medium text-muted">
              {group.name}
            </p>
            {group.items.map((item) => (
              <Option key={item.id} id={optionId(id, at)} item={item} active={at++ === active} onPick={onPick} />
            ))}
          </div>
        ))}
        {groups.length === 0 && <p className="px-3 py-2 text-sm text-muted">{words.composer.noMatches}</p>}
      </div>
      {groups.some((g) => g.more) && <p className="shrink-0 border-t border-line px-4 py-1.5 text-xs text-muted">{words.composer.typeToFindMore}</p>}
    </div>
  );
}

function Option({ id, item, active, onPick }: { id: string; item: Mentionable; active: boolean; onPick: (m: Mentionable) => void }) {
  const Glyph = icons[item.category];
  return (
    <div
      id={id}
      role="option"
      aria-label={[item.detail ? `${item.label} — ${item.detail}` : item.label, item.note].filter(Boolean).join(" ")}
      aria-selected={active}
      aria-disabled={item.disabled}
      className={`flex items-center gap-2.5 rounded-lg px-3 py-1.5 text-sm pointer-coarse:py-3 ${item.disabled ? "text-muted" : "cursor-pointer"} ${active ? "bg-accent-soft" : item.disabled ? "" : "hover:bg-sunken"}`}
      onMouseDown={() => !item.disabled && onPick(item)}
    >
      <Glyph aria-hidden className="size-4 shrink-0 text-muted" />
      {item.detail ? (
        <span dir="auto" className="min-w-0 flex-1 truncate text-left">
          <span className="font-medium">{item.label}</span> — {item.detail}
        </span>
      ) : (
        <Middle text={item.label} />
      )}{" "}
      {item.note && <span className="shrink-0 text-xs text-muted">{item.note}</span>}
    </div>
  );
}
