import { createContext, memo, use, useMemo, useRef } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";
import type { Citation } from "../api/types";
import { remarkMarkers, seal } from "../lib/markers";
import { blocksOf } from "./blocks";
import { CitationChip } from "./CitationChip";
import { CopyButton } from "./CopyButton";
import { ownPicture } from "./parts";

export interface MarkdownProps {
  text: string;
  /** Absent while the answer is being written: its numbers are not openable yet. */
  citations?: Citation[];
  writing?: boolean;
  onCite: (c: Citation) => void;
}

/** What the numbers of an answer open. By context, so that an answer that is complete is not drawn anew for it. */
const Cited = createContext<{ byNumber: Map<number, Citation>; onCite: (c: Citation) => void }>({ byNumber: new Map(), onCite: () => {} });

function Chip({ n }: { n: number }) {
  const { byNumber, onCite } = use(Cited);
  return <CitationChip n={n} citation={byNumber.get(n)} onOpen={onCite} />;
}

/** Untrusted text: no HTML, no pictures from elsewhere, links in a new tab. */
const components: Components = {
  cite: ({ children }) => <Chip n={Number(children)} />,
  a: ({ href, children }) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
    ) : (
      <span>{children}</span> // a scheme that is not safe to open
    ),
  img: ({ src, alt }) => (ownPicture(String(src)) ? <img src={String(src)} alt={alt ?? ""} loading="lazy" className="max-h-96 rounded-xl border border-line" /> : <span>{alt}</span>),
  code: ({ children }) => <code dir="ltr">{children}</code>,
  pre: ({ children }) => <Code>{children}</Code>,
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
};

/** Markdown, block by block. */
export default function Markdown({ text, citations, writing = false, onCite }: MarkdownProps) {
  const cited = useMemo(() => ({ byNumber: new Map((citations ?? []).map((c) => [c.n, c])), onCite }), [citations, onCite]);
  const blocks = useMemo(() => blocksOf(seal(text, citations && new Set(cited.byNumber.keys()))), [text, citations, cited]);
  return (
    <Cited value={cited}>
      <div className="answer">
        {blocks.map((block, i) => (
          <Block key={i} text={writing && i === blocks.length - 1 ? remend(block) : block} />
        ))}
      </div>
    </Cited>
  );
}

const plugins = [remarkGfm, remarkMarkers];

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <div dir="auto">
      <ReactMarkdown remarkPlugins={plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

function Code({ children }: { children?: React.ReactNode }) {
  const box = useRef<HTMLPreElement>(null);
  return (
    <div dir="ltr" className="group/code relative">
      <pre ref={box} tabIndex={0} role="group" aria-label="Code">
        {children}
      </pre>
      <CopyButton
        text={() => box.current?.textContent ?? ""}
        label="Copy code"
        className="absolute top-1.5 right-1.5 opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      />
    </div>
  );
}
