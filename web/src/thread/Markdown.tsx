import { createContext, memo, use, useMemo, useRef } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import remend from "remend";
import type { Citation } from "../api/types";
import { hostOf, namesHost } from "../lib/host";
import { remarkMarkers, seal, type Node } from "../lib/markers";
import { remarkReferences, sealReferences } from "../lib/references";
import { words } from "../words";
import { markRemovedQuotes, withoutOffline } from "../words/wire";
import "./answer.css";
import { blocksOf } from "./blocks";
import { CitationChip } from "./CitationChip";
import { CopyButton } from "./CopyButton";
import { Extras } from "./extras";
import { ownPicture } from "./parts";
import { Previewed } from "./Preview";

export interface MarkdownProps {
  text: string;
  /** Absent while the answer is being written: its numbers are not openable yet. */
  citations?: Citation[];
  writing?: boolean;
  onCite: (c: Citation) => void;
}

/** What the numbers of an answer open. By context, so that a complete answer is not rendered again for it. */
const Cited = createContext<{ byNumber: Map<number, Citation>; onCite: (c: Citation) => void }>({ byNumber: new Map(), onCite: () => {} });

function Chip({ n }: { n: number }) {
  const { byNumber, onCite } = use(Cited);
  return <CitationChip n={n} citation={byNumber.get(n)} onOpen={onCite} />;
}

/** The id of an item, where there is a board that has items. */
function Named({ id }: { id: string }) {
  const extras = use(Extras);
  return extras ? <extras.Reference id={id} /> : id;
}

/** A link of a model's text. It says where it leads, for its words may say anything. */
function Link({ href, text, children }: { href: string; text: string; children?: React.ReactNode }) {
  const host = hostOf(href, location.href);
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
      {host && !namesHost(text, host) && (
        <bdi className="host" dir="ltr">
          {" "}
          ({host})
        </bdi>
      )}
    </a>
  );
}

/** A sentence is not to be drawn as a column of single words, and a number stays with its unit. */
const widthOf = (characters: number) => (characters > 30 ? "sentence" : characters <= 10 ? "whitespace-nowrap" : undefined);

/** Untrusted text: no HTML, no pictures from elsewhere, links in a new tab. */
const components: Components = {
  // The page has the first heading.
  h1: ({ children }) => <h2>{children}</h2>,
  h2: ({ children }) => <h3>{children}</h3>,
  h3: ({ children }) => <h4>{children}</h4>,
  h4: ({ children }) => <h5>{children}</h5>,
  h5: ({ children }) => <h6>{children}</h6>,
  cite: ({ children }) => <Chip n={Number(children)} />,
  data: ({ children }) => <Named id={String(children)} />,
  a: ({ href, children, node }) =>
    href ? (
      <Link href={href} text={node ? wordsOf(node) : ""}>
        {children}
      </Link>
    ) : (
      <span>{children}</span> // a scheme that is not safe to open
    ),
  img: ({ src, alt }) => (ownPicture(String(src)) ? <img src={String(src)} alt={alt ?? ""} loading="lazy" className="max-h-96 rounded-xl border border-line" /> : <span>{alt}</span>),
  input: ({ checked }) => <input type="checkbox" checked={checked} disabled aria-label={checked ? words.message.done : words.message.toDo} />,
  code: ({ children }) => <code dir="ltr">{children}</code>,
  pre: ({ children, node }) => <Code language={languageOf(node)}>{children}</Code>,
  table: ({ children }) => (
    <div className="table-scroll" tabIndex={0} role="group" aria-label={words.message.table}>
      <table>{children}</table>
    </div>
  ),
  td: ({ node, ...rest }) => <td {...rest} className={widthOf(node ? wordsOf(node).length : 0)} />,
};

/** Markdown, block by block. */
export default function Markdown({ text, citations, writing = false, onCite }: MarkdownProps) {
  const cited = useMemo(() => ({ byNumber: new Map((citations ?? []).map((c) => [c.n, c])), onCite }), [citations, onCite]);
  const named = use(Extras) !== null;
  const blocks = useMemo(() => {
    const sealed = seal(withoutOffline(markRemovedQuotes(text)), citations && new Set(cited.byNumber.keys()));
    return blocksOf(named ? sealReferences(sealed) : sealed);
  }, [text, citations, cited, named]);
  return (
    <Cited value={cited}>
      <Previewed byNumber={cited.byNumber}>
        <div className="answer">
          {blocks.map((block, i) => (
            <Block key={i} text={writing && i === blocks.length - 1 ? remend(block) : block} named={named} />
          ))}
        </div>
      </Previewed>
    </Cited>
  );
}

const plugins = [remarkGfm, remarkMarkers, () => bind];
const pluginsOfBoard = [...plugins, remarkReferences];

interface Bound extends Node {
  data?: { hName: string; hProperties?: { className: string } };
  children?: Bound[];
}

/** Keeps the number of a citation on the line of what it follows and of the full stop that follows it. Browsers break lines at such a box whatever stands beside it. */
function bind(node: Bound): void {
  node.children?.forEach((child, i, all) => {
    if (child.type !== "cite") return bind(child);
    const take = (from: Bound | undefined, what: RegExp): Bound[] => {
      const value = from?.type === "text" ? (what.exec(from.value ?? "")?.[0] ?? "") : "";
      if (value) from!.value = from!.value!.replace(what, "");
      return value ? [{ type: "text", value }] : [];
    };
    const children = [...take(all[i - 1], /\S\u00A0?$/u), child, ...take(all[i + 1], /^[.,;:!?)\]}»”’"'…。、，]+/u)];
    if (children.length > 1) all[i] = { type: "bound", data: { hName: "span", hProperties: { className: "whitespace-nowrap" } }, children };
  });
}

interface HastNode {
  value?: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: HastNode[];
}

function wordsOf(node: HastNode): string {
  if (node.tagName === "cite") return "";
  if (node.tagName === "img") return String(node.properties?.alt ?? "");
  return node.value ?? (node.children ?? []).map(wordsOf).join("");
}

const Block = memo(function Block({ text, named }: { text: string; named: boolean }) {
  return (
    <div dir="auto">
      <ReactMarkdown remarkPlugins={named ? pluginsOfBoard : plugins} components={components}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

/** What the fence of a block of code says that it is. */
function languageOf(pre: HastNode | undefined): string {
  const name = [pre?.children?.[0]?.properties?.className].flat().find((c) => String(c).startsWith("language-"));
  return name ? String(name).slice("language-".length) : "";
}

function Code({ language, children }: { language: string; children?: React.ReactNode }) {
  const box = useRef<HTMLPreElement>(null);
  return (
    <div dir="ltr" className="group/code relative">
      <pre ref={box} tabIndex={0} role="group" aria-label={words.message.code} className={language && "pt-9!"}>
        {children}
      </pre>
      {language && <span className="absolute top-2.5 left-4 max-w-3/4 truncate text-xs text-muted">{language}</span>}
      <CopyButton
        text={() => box.current?.textContent ?? ""}
        label={words.message.copyCode}
        className="absolute top-1.5 right-1.5 opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      />
    </div>
  );
}
