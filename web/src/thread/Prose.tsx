import { useEffect, useState, type ComponentType } from "react";
import { loaded } from "../ui/lazy";
import { markRemovedQuotes } from "../words/wire";
import type { MarkdownProps } from "./Markdown";

let Markdown: ComponentType<MarkdownProps> | null = null;

const read = async () => {
  Markdown = (await loaded(() => import("./Markdown"))).default;
};

/** Loads the Markdown renderer before the first answer needs it. */
export const prepareProse = (): void => void read().catch(() => {});

/** Renders Markdown, as plain text until the renderer is loaded. (Suspense would flash the plain text each time.) */
export function Prose(props: MarkdownProps) {
  const [Ready, setReady] = useState(() => Markdown);
  useEffect(() => {
    if (!Ready) void read().then(() => setReady(() => Markdown)).catch(() => {}); // the page shows plain text
  }, [Ready]);
  return Ready ? <Ready {...props} /> : <p dir="auto" className="whitespace-pre-wrap">{markRemovedQuotes(props.text)}</p>;
}
