import { lazy, Suspense } from "react";
import type { MarkdownProps } from "./Markdown";

const read = () => import("./Markdown");
const Markdown = lazy(read);

/** Fetches what shows markdown before the first answer needs it. */
export const prepareProse = (): void => void read();

/** Markdown; its bare words until what shows it has come. */
export function Prose(props: MarkdownProps) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{props.text}</p>}>
      <Markdown {...props} />
    </Suspense>
  );
}
