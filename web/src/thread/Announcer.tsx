import { useEffect, useRef, useState } from "react";
import { words } from "../words";
import { interruption } from "./parts";
import type { Message } from "./types";

interface Props {
  /** The newest; undefined while it is no answer yet. */
  message: Message | undefined;
  /** A turn runs. */
  busy: boolean;
}

/** Says to screen readers that a turn has brought an answer, once: the answer itself is read where it stands. What stood there before is not news. */
export function Announcer({ message, busy }: Props) {
  const [text, setText] = useState("");
  const known = useRef<string | undefined>(undefined);
  const busyBefore = useRef(false);
  const id = message?.role === "assistant" ? message.id : undefined;
  useEffect(() => {
    if (busy) {
      busyBefore.current = true;
      setText(""); // the same words are news again
    }
    if (busy || !message) return;
    if (id && id !== known.current && busyBefore.current) setText(message.metadata?.interrupted ? interruption(message.metadata) : words.thread.ready);
    known.current = id;
    busyBefore.current = false;
  }, [message, busy, id]);
  return (
    <p className="sr-only" aria-live="polite" data-announcer>
      {text}
    </p>
  );
}
