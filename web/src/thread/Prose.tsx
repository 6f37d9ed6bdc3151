import { useEffect, useState, type ComponentType } from "react";
import { markRemovedQuotes } from "../words/wire";
import type { MarkdownProps } from "./Markdown";

let Markdown: ComponentType<MarkdownProps> | null = null;

const read = async () => {
  Markdown = (await import("./Markdown")).default;
};

/** Fetches what shows markdown before the first answer needs it. */
export const prepareProse = (): void => void read().catch(() => {});

/** Markdown; its bare words until what shows it has come. (Suspense would show those for a moment each time.) */
export function Prose(props: MarkdownProps) {
  const [Ready, setReady] = useState(() => Markdown);
  useEffect(() => {
    if (!Ready) void read().then(() => setReady(() => Markdown)).catch(() => {}); // the words are there
  }, [Ready]);
  return Ready ? <Ready {...props} /> : <p dir="auto" className="whitespace-pre-wrap">{markRemovedQuotes(props.text)}</p>;
}
