import katex from "katex";
import "katex/dist/katex.min.css";
import { useLayoutEffect, useRef } from "react";
import { words } from "../words";

export { default as remarkMath } from "remark-math";

const MOST = 5_000; // maximum characters of a formula

/** Renders a formula, or its source if KaTeX fails. KaTeX builds elements, because the page's CSP allows no styles in HTML. */
export function Tex({ tex, display }: { tex: string; display: boolean }) {
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const el = box.current!;
    try {
      if (tex.length > MOST) throw new Error("too long");
      katex.render(tex, el, { displayMode: display, maxSize: 20, maxExpand: 200, strict: false });
    } catch {
      el.textContent = tex;
    }
  }, [tex, display]);
  if (!display) return <span ref={box} dir="ltr" className="formula" />;
  return <span ref={box} dir="ltr" className="formula block" tabIndex={0} role="group" aria-label={words.message.formula} />;
}
