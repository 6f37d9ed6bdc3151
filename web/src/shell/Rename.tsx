import { useEffect, useRef, useState } from "react";
import type { Conversation } from "../api/types";
import { composing } from "../ui/composing";
import { words } from "../words";
import { changeConversation } from "./conversations";

interface Props {
  conversation: Conversation;
  /** Called when the input is to be removed, with whether it has the focus. */
  onDone: (focused: boolean) => void;
}

/** A field for the title of a conversation. Enter and leaving it save, Escape does not. */
export function Rename({ conversation: c, onDone }: Props) {
  const [title, setTitle] = useState(c.title);
  const input = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  // Waits until the menu has restored the focus.
  useEffect(() => {
    const frame = requestAnimationFrame(() => input.current?.select());
    return () => cancelAnimationFrame(frame);
  }, []);
  const save = (keep: boolean) => {
    if (done.current) return; // Enter is followed by a blur
    done.current = true;
    const next = title.trim();
    const end = () => onDone(document.activeElement === input.current);
    if (keep && next !== "" && next !== c.title) void changeConversation(c.id, { title: next }).finally(end);
    else end();
  };
  return (
    <div>
      <input
        ref={input}
        dir="auto"
        aria-label={words.shell.title}
        value={title}
        maxLength={200}
        className="h-8 w-full rounded-lg border border-accent bg-surface px-2 text-sm outline-none pointer-coarse:h-11"
        onChange={(e) => setTitle(e.target.value)}
        onBlur={() => save(true)}
        onKeyDown={(e) => {
          if (composing(e.nativeEvent) || (e.key !== "Enter" && e.key !== "Escape")) return;
          e.preventDefault();
          save(e.key === "Enter");
        }}
      />
    </div>
  );
}
