import { common, createLowlight } from "lowlight";
import type { ReactNode } from "react";

const lowlight = createLowlight(common);

const MOST = 20_000; // characters: reading more of it would hold up the page

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

/** Code with its parts marked; null in a language that is not known. */
export function highlighted(code: string, language: string): ReactNode {
  if (code.length > MOST || !lowlight.registered(language)) return null;
  return drawn(lowlight.highlight(language, code).children as Node[]);
}
