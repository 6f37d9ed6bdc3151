import { Code as CodeIcon, Image } from "lucide-react";
import { useCallback, useEffect, useState, type ReactNode } from "react";
import { useTheme } from "../shell/theme";
import { IconButton } from "../ui/Button";
import { useMedia } from "../ui/useMedia";
import { words } from "../words";
import { draw, type Drawn } from "./diagram";

const LEAST_PX = 400; // a wider diagram is not made narrower than this, nor so small that it cannot be read: it scrolls
const LEAST_SCALE = 0.6;

/** Shows the diagram that a text describes, or the text (children) until it is drawn, if it cannot be, and on request. */
export default function Diagram({ code, children }: { code: string; children: ReactNode }) {
  const [theme] = useTheme();
  const system = useMedia("(prefers-color-scheme: dark)");
  const dark = theme === "system" ? system : theme === "dark";
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [asText, setAsText] = useState(false);
  useEffect(() => {
    let left = false;
    void draw(code, dark).then((got) => left || setDrawn(got));
    return () => void (left = true);
  }, [code, dark]);
  const box = useCallback((el: HTMLDivElement) => {
    const show = () => setAsText(true); // words of it are found
    el.addEventListener("beforematch", show);
    return () => el.removeEventListener("beforematch", show);
  }, []);
  if (!drawn) return children;
  return (
    <div className="relative">
      {asText ? (
        children
      ) : (
        <div ref={box} tabIndex={0} role="group" aria-label={words.message.diagram} className="diagram" data-code={code}>
          <img
            src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn.svg)}`}
            alt={words.message.diagram}
            width={drawn.width}
            height={drawn.height}
            style={{ minWidth: Math.min(drawn.width, Math.max(LEAST_PX, LEAST_SCALE * drawn.width)) }}
          />
        </div>
      )}
      <IconButton size="small" className="absolute! top-1.5 right-10 print:hidden" icon={asText ? Image : CodeIcon} label={asText ? words.message.showDiagram : words.message.showCode} onClick={() => setAsText(!asText)} />
    </div>
  );
}
