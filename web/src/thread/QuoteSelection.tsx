import { TextQuote } from "lucide-react";
import { useEffect, useState, type RefObject } from "react";
import { onTouch } from "../composer/focus";
import { commandKey, mac } from "../lib/keys";
import { composing } from "../ui/composing";
import { layerIsOpen } from "../ui/layer";
import { words } from "../words";
import { selectedIn } from "./quoting";

interface Props {
  /** The conversation. */
  box: RefObject<HTMLElement | null>;
  onQuote: (text: string) => void;
}

/** The place of the button, in px of the window: above a selection, or below it where the system's own menu is above it. */
interface Spot {
  top: number;
  left: number;
}

const HEIGHT = 44;

/** Offers to quote the selected part of an answer in the next message, with a button and a shortcut. */
export function QuoteSelection({ box, onQuote }: Props) {
  const [spot, setSpot] = useState<Spot | null>(null);
  const keys = [commandKey(), words.shortcuts.keys.shift, "L"].join("+");
  useEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      const found = selectedIn(box.current);
      const room = box.current?.getBoundingClientRect();
      const at = found?.range.getBoundingClientRect();
      if (!room || !at || at.bottom < room.top || at.top > room.bottom) return setSpot(null);
      const above = at.top - HEIGHT;
      const below = Math.min(at.bottom + (onTouch() ? 28 : 6), room.bottom - HEIGHT);
      setSpot({ top: onTouch() || above < room.top ? below : above, left: Math.min(Math.max(at.left + at.width / 2, room.left + 60), room.right - 60) });
    };
    const soon = () => (frame ||= requestAnimationFrame(look));
    const conversation = box.current;
    document.addEventListener("selectionchange", soon);
    conversation?.addEventListener("scroll", soon, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener("selectionchange", soon);
      conversation?.removeEventListener("scroll", soon);
    };
  }, [box]);

  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (!(mac ? e.metaKey : e.ctrlKey) || !e.shiftKey || e.altKey || e.key.toLowerCase() !== "l" || e.defaultPrevented || composing(e) || layerIsOpen()) return;
      const found = selectedIn(box.current);
      if (!found) return; // the browser's own shortcut
      e.preventDefault();
      onQuote(found.text);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [box, onQuote]);

  return (
    <>
      <span role="status" className="sr-only">
        {spot ? words.thread.quoteHint(keys) : ""}
      </span>
      {spot && (
        <button
          type="button"
          title={`${words.thread.quote} (${keys})`}
          style={spot}
          className="fixed z-30 inline-flex h-9 -translate-x-1/2 items-center gap-2 rounded-lg border border-line bg-surface px-3 text-sm font-medium shadow-float hover:bg-sunken pointer-coarse:h-11"
          onPointerDown={(e) => e.preventDefault()} // the selection stays
          onClick={() => {
            const found = selectedIn(box.current);
            if (found) onQuote(found.text);
          }}
        >
          <TextQuote aria-hidden className="size-4 text-accent" /> {words.thread.quote}
        </button>
      )}
    </>
  );
}
