import { memo, useMemo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import type { Citation } from "../api/types";
import { remarkMarkers, seal } from "../lib/markers";
import { CitationChip } from "./CitationChip";

interface Props {
  text: string;
  /** Absent while the answer is being written: its numbers are not openable yet. */
  citations?: Citation[];
  onCite: (c: Citation) => void;
}

/** Markdown of untrusted text: no HTML, no images (they would be fetched from elsewhere), links in a new tab. */
export const Markdown = memo(function Markdown({ text, citations, onCite }: Props) {
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
      img: ({ alt }) => <span>{alt}</span>,
      table: ({ children }) => (
        <div className="table-scroll" tabIndex={0} role="group" aria-label="Table">
          <table>{children}</table>
        </div>
      ),
    }),
    [byNumber, onCite],
  );
  return (
    <div className="answer">
      <ReactMarkdown remarkPlugins={[remarkGfm, remarkMarkers]} components={components}>
        {sealed}
      </ReactMarkdown>
    </div>
  );
});
