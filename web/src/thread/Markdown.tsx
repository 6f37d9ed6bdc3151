import { createContext, memo, Suspense, use, useEffect, useId, useMemo, useRef, useState, type MouseEvent, type ReactNode } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkCjk from "remark-cjk-friendly";
import remarkCjkStrike from "remark-cjk-friendly-gfm-strikethrough";
import remarkGfm from "remark-gfm";
import remend from "remend";
import type { Citation } from "../api/types";
import { isNumber, isShortCell } from "../documents/tables";
import { hostOf, namesHost } from "../lib/host";
import { remarkBareLinks } from "../lib/links";
import { hasMath, markMath } from "../lib/math";
import { rendered } from "../lib/bounds";
import { remarkHighlights } from "../lib/highlights";
import { opened, remarkMarkers, seal, type Node } from "../lib/markers";
import { opened as openedReferences, remarkReferences, sealReferences } from "../lib/references";
import { remarkTags } from "../lib/tags";
import { markUnverified, remarkUnverified } from "../lib/unverified";
import { Boundary } from "../shell/Boundary";
import { lazy, loaded } from "../ui/lazy";
import { OwnPicture } from "../ui/OwnPicture";
import { words } from "../words";
import { markRemovedQuotes, withoutOffline } from "../words/wire";
import "./answer.css";
import { blocksOf } from "./blocks";
import { CitationChip } from "./CitationChip";
import { CopyButton } from "./CopyButton";
import { Extras } from "./extras";
import { holdTable } from "./holding";
import { ownPicture } from "./parts";
import { Previewed } from "./Preview";
import { Titled } from "./titled";

const Diagram = lazy(() => import("./Diagram"));

export interface MarkdownProps {
  text: string;
  /** Undefined while the answer streams: its citation numbers cannot be opened yet. */
  citations?: Citation[];
  /** Words that were a quotation and are in no source. */
  unverified?: readonly string[];
  writing?: boolean;
  onCite: (c: Citation) => void;
}

/** The citations by number. It is a context, so that a change does not render the whole answer again. */
const Cited = createContext<{ byNumber: Map<number, Citation>; onCite: (c: Citation) => void }>({ byNumber: new Map(), onCite: () => {} });

function Chip({ n }: { n: number }) {
  const { byNumber, onCite } = use(Cited);
  return <CitationChip n={n} citation={byNumber.get(n)} onOpen={onCite} />;
}

/** The id of a board item, as a reference if there is a board. */
function Named({ id }: { id: string }) {
  const extras = use(Extras);
  return extras ? <extras.Reference id={id} /> : id;
}

/** Bold words; the name of a document opens it. */
function Bold({ text, children }: { text: string; children?: ReactNode }) {
  const titled = use(Titled);
  const doc = titled?.find(text);
  const bold = <strong>{children}</strong>;
  if (!titled || !doc) return bold;
  const open = () => titled.onRead(doc);
  // Not a <button>: it could not wrap like words.
  return (
    <span role="button" tabIndex={0} className="document" title={words.library.read(doc.title)} onClick={open} onKeyDown={(e) => ["Enter", " "].includes(e.key) && (e.preventDefault(), open())}>
      {bold}
    </span>
  );
}

/** A link in a model's text. It shows its host, because its text may mislead. */
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

/** A link between a footnote and its place in the text. */
function Jump({ href, id, children }: { href: string; id: string | undefined; children?: ReactNode }) {
  const jump = (e: MouseEvent) => {
    e.preventDefault(); // the address stays that of the conversation
    const to = document.getElementById(href.slice(1));
    to?.scrollIntoView({ block: "center" });
    to?.focus({ preventScroll: true });
  };
  return (
    <a href={href} id={id} onClick={jump}>
      {children}
    </a>
  );
}

/** Gives a long table cell a minimum width; keeps a short one, like a number and its unit, on one line. */
const widthOf = (characters: number) => (characters > 30 ? "sentence" : isShortCell(characters) ? "whitespace-nowrap" : undefined);

/** The text is untrusted: no HTML, no external images, links in a new tab. */
const components: Components = {
  // The h1 is reserved for the page itself.
  h1: ({ children, dir }) => <h2 dir={dir}>{children}</h2>,
  h2: ({ children, dir }) => <h3 dir={dir}>{children}</h3>,
  h3: ({ children, dir }) => <h4 dir={dir}>{children}</h4>,
  h4: ({ children, dir }) => <h5 dir={dir}>{children}</h5>,
  h5: ({ children, dir }) => <h6 dir={dir}>{children}</h6>,
  cite: ({ children }) => <Chip n={Number(children)} />,
  data: ({ children }) => <Named id={String(children)} />,
  u: ({ children }) => (
    <u className="unverified" tabIndex={0} title={words.message.unverified} data-reason={words.message.unverified} aria-description={words.message.unverified}>
      {children}
    </u>
  ),
  strong: ({ children, node }) => <Bold text={node ? wordsOf(node) : ""}>{children}</Bold>,
  a: ({ href, id, children, node }) =>
    node?.properties.dataFootnoteRef !== undefined || node?.properties.dataFootnoteBackref !== undefined ? (
      <Jump href={href ?? ""} id={id}>
        {children}
      </Jump>
    ) : href ? (
      <Link href={href} text={node ? wordsOf(node) : ""}>
        {children}
      </Link>
    ) : (
      <span>{children}</span> // the scheme is unsafe
    ),
  img: ({ src, alt }) => (ownPicture(String(src)) ? <OwnPicture src={String(src)} alt={alt ?? ""} loading="lazy" className="max-h-96 rounded-xl border border-line" /> : <span>{alt}</span>),
  input: ({ checked }) => <input type="checkbox" checked={checked} disabled aria-label={checked ? words.message.done : words.message.toDo} />,
  code: ({ children, node }) => (classOf(node, "math-inline") ? <Formula tex={wordsOf(node!)} /> : <code dir="ltr">{children}</code>),
  pre: ({ node }) => {
    const code = node?.children[0] as HastNode | undefined;
    return classOf(code, "math-display") ? <Formula tex={wordsOf(code!)} display /> : <Code language={languageOf(node)} code={node ? wordsOf(node) : ""} />;
  },
  table: ({ children, dir }) => (
    <div dir={dir} className="table-scroll" tabIndex={0} role="group" aria-label={words.message.table}>
      <table>{children}</table>
    </div>
  ),
  td: ({ node, className = "", ...rest }) => <td {...rest} className={`${className} ${widthOf(node ? wordsOf(node).length : 0) ?? ""}`.trim() || undefined} />,
};

/** Renders Markdown block by block. */
export default function Markdown({ text, citations, unverified, writing = false, onCite }: MarkdownProps) {
  const cited = useMemo(() => ({ byNumber: new Map((citations ?? []).map((c) => [c.n, c])), onCite }), [citations, onCite]);
  const named = use(Extras) !== null;
  const math = useMath(hasMath(text));
  const blocks = useMemo(() => {
    const said = markUnverified(withoutOffline(markRemovedQuotes(text)), unverified);
    const sealed = seal(math ? markMath(said, writing) : said, citations && new Set(cited.byNumber.keys()));
    const blocks = blocksOf(named ? sealReferences(sealed) : sealed);
    const renders = rendered(blocks);
    return blocks.map((block, i) => ({ block, renders: renders[i]! }));
  }, [text, citations, unverified, cited, named, math, writing]);
  const prefix = useId();
  return (
    <Cited value={cited}>
      <Previewed byNumber={cited.byNumber}>
        <div className="answer">
          {blocks.map(({ block, renders }, i) =>
            renders ? (
              <Boundary key={i} fallback={<Source text={block} />}>
                <Block prefix={prefix} text={writing && i === blocks.length - 1 ? remend(holdTable(block), closing) : block} named={named} math={math !== null && block.includes("$$")} writing={writing && i === blocks.length - 1} />
              </Boundary>
            ) : (
              <Source key={i} text={block} />
            ),
          )}
        </div>
      </Previewed>
    </Cited>
  );
}

/** A block as it was written: its rendering would take too much, or has failed. */
function Source({ text }: { text: string }) {
  return (
    <p dir="auto" className="break-words whitespace-pre-wrap">
      {openedReferences(opened(text))}
    </p>
  );
}

const closing = { katex: false, inlineKatex: false }; // a formula is shown when it is complete

type Setter = typeof import("./Tex");
let setter: Setter | null = null;

/** The formula renderer; null until it is needed and loaded. */
function useMath(needed: boolean): Setter | null {
  const [math, setMath] = useState(setter);
  useEffect(() => {
    if (!needed || math) return;
    void loaded(() => import("./Tex")).then((m) => setMath((setter = m))).catch(() => {}); // the page shows the source
  }, [needed, math]);
  return needed ? math : null;
}

function Formula({ tex, display = false }: { tex: string; display?: boolean }) {
  return setter ? <setter.Tex tex={tex.trim()} display={display} /> : tex;
}

/** One tilde is often a range (5~7), so only two strike through. */
const tildes = { singleTilde: false };
const plugins: NonNullable<Options["remarkPlugins"]> = [[remarkGfm, tildes], remarkCjk, [remarkCjkStrike, tildes], remarkTags, remarkBareLinks, remarkUnverified, remarkHighlights, remarkMarkers, () => bind];
const pluginsOfBoard = [...plugins, remarkReferences];

interface Bound extends Node {
  data?: { hName: string; hProperties?: { className: string } };
  children?: Bound[];
}

/** Keeps a citation number on one line with the character before it and the punctuation after it. Browsers may otherwise break the line at such a box. */
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

/** Parts that are rendered together, because of a footnote, have each their own direction of writing, like parts that are rendered alone. */
function eachOwnDirection(tree: HastNode): void {
  const parts = (tree.children ?? []).filter((part) => part.tagName);
  if (parts.length > 1) parts.forEach((part) => (part.properties = { ...part.properties, dir: "auto" }));
}

const setters = [() => eachOwnDirection, () => alignNumbers];

/**
 * Sets the numbers of a column below each other, unless the model has aligned the column. The
 * first row decides about a column, so that nothing moves while further rows stream.
 */
function alignNumbers(tree: HastNode): void {
  if (tree.tagName !== "table") return tree.children?.forEach(alignNumbers);
  const within = (node: HastNode) => (node.children ?? []).filter((child) => child.tagName);
  const rows = within(tree).flatMap(within).map(within);
  const [head, first] = rows;
  first?.forEach((cell, i) => {
    if (head?.[i]?.properties?.align || !isNumber(wordsOf(cell))) return;
    for (const row of rows) {
      const at = row[i];
      if (at && (row === head || isNumber(wordsOf(at)))) at.properties = { ...at.properties, className: ["number"] };
    }
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

/** Whether the block still streams. */
const Growing = createContext(false);

interface BlockProps {
  text: string;
  /** Makes the ids of footnotes unique in the page. */
  prefix: string;
  named: boolean;
  math: boolean;
  writing: boolean;
}

const Block = memo(function Block({ text, prefix, named, math, writing }: BlockProps) {
  const usual = named ? pluginsOfBoard : plugins;
  const notes = useMemo(
    () => ({ clobberPrefix: `${prefix}-`, footnoteLabel: words.message.footnotes, footnoteLabelTagName: "p", footnoteBackLabel: words.message.backToText, footnoteLabelProperties: { className: ["sr-only"] } }),
    [prefix],
  );
  return (
    <div dir="auto">
      <Growing value={writing}>
        <ReactMarkdown remarkPlugins={math && setter ? [[setter.remarkMath, { singleDollarTextMath: false }], ...usual] : usual} rehypePlugins={setters} remarkRehypeOptions={notes} components={components}>
          {text}
        </ReactMarkdown>
      </Growing>
    </div>
  );
});

const classOf = (node: HastNode | undefined, name: string): boolean => [node?.properties?.className].flat().includes(name);

/** The language that a code fence names. */
function languageOf(pre: HastNode | undefined): string {
  const name = [pre?.children?.[0]?.properties?.className].flat().find((c) => String(c).startsWith("language-"));
  return name ? String(name).slice("language-".length) : "";
}

/** Highlights code once it is complete and the highlighter is loaded. */
function useHighlighted(code: string, language: string): ReactNode {
  const growing = use(Growing);
  const [drawn, setDrawn] = useState<{ code: string; parts: ReactNode } | null>(null);
  useEffect(() => {
    if (growing || !language) return;
    let left = false;
    void loaded(() => import("./highlight")).then(({ highlighted }) => !left && setDrawn({ code, parts: highlighted(code, language) })).catch(() => {}); // the page shows plain code
    return () => {
      left = true;
    };
  }, [growing, code, language]);
  return (drawn?.code === code && drawn.parts) || code;
}

function Code({ language, code }: { language: string; code: string }) {
  const growing = use(Growing);
  const box = useRef<HTMLPreElement>(null);
  const parts = useHighlighted(code, language);
  const text = (
    <pre ref={box} tabIndex={0} role="group" aria-label={words.message.code} className={language && "pt-9!"}>
      <code dir="ltr">{parts}</code>
    </pre>
  );
  return (
    <div dir="ltr" className="group/code relative">
      {language === "mermaid" && !growing ? (
        <Suspense fallback={text}>
          <Diagram code={code}>{text}</Diagram>
        </Suspense>
      ) : (
        text
      )}
      {language && <span data-language className="absolute top-2.5 left-4 max-w-3/4 truncate text-xs text-muted">{language}</span>}
      <CopyButton
        text={() => box.current?.textContent ?? code}
        label={words.message.copyCode}
        className="absolute top-1.5 right-1.5 opacity-0 group-focus-within/code:opacity-100 group-hover/code:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
      />
    </div>
  );
}
