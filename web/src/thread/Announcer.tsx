import { useEffect, useRef, useState } from "react";
import { words } from "../words";
import { interruption } from "./parts";
import type { Message } from "./types";

interface Props {
  /** The last message; undefined while a question is open. */
  message: Message | undefined;
  /** Whether a turn runs. */
  busy: boolean;
}

/** What is announced about an answer; the error of a failed one is an alert already. */
function announcement({ metadata }: Message): string {
  if (metadata?.error) return "";
  return metadata?.interrupted ? interruption(metadata) : words.thread.ready;
}

/** Tells screen readers once that a new answer is ready or interrupted, without its text. Earlier answers are not announced. */
export function Announcer({ message, busy }: Props) {
  const [text, setText] = useState("");
  const known = useRef<string | undefined>(undefined);
  const busyBefore = useRef(false);
  const id = message?.role === "assistant" ? message.id : undefined;
  useEffect(() => {
    if (busy) {
      busyBefore.current = true;
      setText(""); // so that the same text is announced again
    }
    if (busy || !message) return;
    if (id && id !== known.current && busyBefore.current) setText(announcement(message));
    known.current = id;
    busyBefore.current = false;
  }, [message, busy, id]);
  return (
    <p className="sr-only" aria-live="polite" data-announcer>
      {text}
    </p>
  );
}
