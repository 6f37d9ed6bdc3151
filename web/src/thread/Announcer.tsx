import { useEffect, useRef, useState } from "react";
import { words } from "../words";
import { interruption, textOf } from "./parts";
import type { Message } from "./types";

/** Characters: who wants to hear more goes to the answer itself. */
const MOST = 2_000;

interface Props {
  /** The newest; undefined while it is no answer yet. */
  message: Message | undefined;
  /** A turn runs. */
  busy: boolean;
}

/** Markdown as it is shown, without its markup characters, for screen readers. */
async function spoken(text: string): Promise<string> {
  try {
    return (await import("./Markdown")).plain(text, MOST);
  } catch {
    return text.slice(0, MOST);
  }
}

/** Says the answer that a turn has brought to screen readers, once. What stood there before is not news. */
export function Announcer({ message, busy }: Props) {
  const [text, setText] = useState("");
  const known = useRef<string | undefined>(undefined);
  const busyBefore = useRef(false);
  const id = message?.role === "assistant" ? message.id : undefined;
  useEffect(() => {
    if (busy) busyBefore.current = true;
    if (busy || !message) return;
    if (id && id !== known.current && busyBefore.current) {
      const end = message.metadata?.interrupted ? ` ${interruption(message.metadata)}.` : "";
      void spoken(textOf(message)).then((said) => setText(words.thread.spoken(`${said}${end}`)));
    }
    known.current = id;
    busyBefore.current = false;
  }, [message, busy, id]);
  return (
    <p className="sr-only" aria-live="polite" data-announcer>
      {text}
    </p>
  );
}
