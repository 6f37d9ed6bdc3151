import { common, createLowlight } from "lowlight";
import type { ReactNode } from "react";

const lowlight = createLowlight(common);

const MOST = 20_000; // maximum characters: parsing more would block the page

interface Node {
  type: string;
  value?: string;
  properties?: { className?: unknown };
  children?: Node[];
}

const drawn = (nodes: readonly Node[]): ReactNode =>
  nodes.map((n, i) =>
    n.type === "text" ? (
      n.value
    ) : (
      <span key={i} className={[n.properties?.className].flat().join(" ")}>
        {drawn(n.children ?? [])}
      </span>
    ),
  );

/** Highlights code; null if it is too long or its language is unknown. */
export function highlighted(code: string, language: string): ReactNode {
  if (code.length > MOST || !lowlight.registered(language)) return null;
  return drawn(lowlight.highlight(language, code).children as Node[]);
}
