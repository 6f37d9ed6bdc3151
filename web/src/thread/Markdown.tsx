import { memo, useMemo, useRef, useState } from "react";
import { Check, Copy } from "lucide-react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";
import type { Citation } from "../api/types";
import { remarkMarkers, seal } from "../lib/markers";
import { IconButton } from "../ui/Button";
import { blocksOf } from "./blocks";
import { CitationChip } from "./CitationChip";
import { ownPicture } from "./parts";

export interface MarkdownProps {
  text: string;
  /** Absent while the answer is being written: its numbers are not openable yet. */
  citations?: Citation[];
  writing?: boolean;
  onCite: (c: Citation) => void;
}

/** Markdown of untrusted text: no HTML, no pictures from elsewhere, links in a new tab. */
export default function Markdown({ text, citations, writing = false, onCite }: MarkdownProps) {
  const byNumber = useMemo(() => new Map((citations ?? []).map((c) => [c.n, c])), [citations]);
  const sealed = useMemo(() => seal(text, citations && new Set(byNumber.keys())), [text, citations, byNumber]);
  const components = useMemo<Components>(
    () => ({
      cite: ({ children }) => <CitationChip n={Number(children)} citation={byNumber.get(Number(children))} onOpen={onCite} />,
      a: ({ href, children }) => (
        <a href={href} target="_blank" rel="noopener noreferrer">
          {children}
        </a>
      ),
      img: ({ src, alt }) => (ownPicture(String(src)) ? <img src={String(src)} alt={alt ?? ""} loading="lazy" className="max-h-96 rounded-xl border border-line" /> : <span>{alt}</span>),
      pre: ({ children }) => <Code>{children}</Code>,
      table: ({ children }) => (
        <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
          <table>{children}</table>
        </div>
      ),
    }),
    [byNumber, onCite],
  );
  const blocks = useMemo(() => blocksOf(sealed), [sealed]);
  return (
    <div className="answer">
      {blocks.map((block, i) => (
        <Block key={i} text={writing && i === blocks.length - 1 ? remend(block) : block} components={components} />
      ))}
    </div>
  );
}

const plugins = [remarkGfm, remarkMarkers];

const Block = memo(function Block({ text, components }: { text: string; components: Components }) {
  return (
    <div>
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

function Code({ children }: { children?: React.ReactNode }) {
  const box = useRef<HTMLPreElement>(null);
  const [copied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard?.writeText(box.current?.textContent ?? "").then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return (
    <div className="group/code relative">
      <pre ref={box} tabIndex={0} role="group" aria-label="Code">
        {children}
      </pre>
      {window.isSecureContext && <IconButton size="small" icon={copied ? Check : Copy} label={copied ? "Copied" : "Copy code"} onClick={copy} className="absolute top-1.5 right-1.5 opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100 focus-visible:opacity-100" />}
    </div>
  );
}
