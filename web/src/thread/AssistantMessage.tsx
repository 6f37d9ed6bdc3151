import { FolderOpen, RotateCw } from "lucide-react";
import { memo, use, useEffect, useMemo, useState } from "react";
import { refreshLibrary } from "../documents/library";
import type { Agent } from "../api/config";
import type { Citation, DocRef } from "../api/types";
import { AgentName } from "../composer/AgentMenu";
import { ImportCard, ImportCards } from "../imports/ImportCards";
import { importOf, Imports } from "../imports/imports";
import { readLink } from "../imports/links";
import { Button, IconButton } from "../ui/Button";
import { words } from "../words";
import { failure, markRemovedQuotes, question, withoutOffline } from "../words/wire";
import { htmlOf } from "./copied";
import { CopyButton } from "./CopyButton";
import { Extras } from "./extras";
import type { Rating } from "./feedback";
import { Footnote, Time } from "./Footnote";
import { Noticed } from "./Noticed";
import { citationsOf, endedUnanswered, importLink, interruption, oncePerNotice, picturesOf, replyText, saidByCards, saysEnding, shown, textOf, thoughtFor, toolMessages, toolOf, type ToolPart, unverifiedOf, withSources } from "./parts";
import { Passages } from "./Passages";
import { Pictures } from "./Pictures";
import { Prose } from "./Prose";
import { Reason, Thumbs } from "./Rate";
import { Shared } from "./sharing";
import { Sources } from "./Sources";
import { listsDocuments, mayListDocuments, Titled } from "./titled";
import { ToolCard, ToolMessages } from "./ToolCard";
import type { Message, Metadata, Part } from "./types";

interface Props {
  message: Message;
  /** The text of the message that it answers. */
  asked: string;
  /** The agent that answers; undefined if it is the same as before. */
  agent: Agent | undefined;
  writing: boolean;
  /** Whether it is the last message: PalAssist then shows its open question. */
  last: boolean;
  /** Whether its actions are visible without pointing: not while a message is edited. */
  acts: boolean;
  /** Whether to offer a retry; false if something else on the page offers it. */
  retry: boolean;
  /** Whether it has just failed. */
  alert: boolean;
  locked: boolean;
  onCite: (c: Citation) => void;
  onRead: (doc: DocRef) => void;
  onRegenerate: (turn: string) => void;
}

/** Everything that a turn produced, in order. */
export const AssistantMessage = memo(function AssistantMessage({ message, asked, agent, writing, last, acts, retry, alert, locked, onCite, onRead, onRegenerate }: Props) {
  const meta = message.metadata ?? {};
  const citations = useMemo(() => (writing ? undefined : citationsOf(message)), [message, writing]);
  const text = textOf(message);
  const pictures = picturesOf(message).filter((p) => !text.includes(p.url));
  const waits = meta.finished_reason === "interrupted" && !writing;
  const parts = shown(message);
  const say = ({ part, times }: { part: Part; times: number }, i: number) => <Piece key={i} part={part} times={times} text={text} over={!writing && !waits} open={last && waits} citations={citations} writing={writing && part === parts.at(-1)} onCite={onCite} onRead={onRead} meta={meta} />;
  const extras = use(Extras);
  const [rated, setRated] = useState<Rating | null>(null); // asks for its reason
  const readOnly = use(Shared).author !== undefined;
  const rate = !extras && !readOnly && text && meta.thread_id && meta.turn_id ? { thread: meta.thread_id, turn: meta.turn_id } : null;
  const byTool = parts.flatMap((p) => readLink(importLink(toolOf(p)) ?? "")?.key ?? []);
  return (
    <article aria-label={writing ? words.message.writing : "Palaver"} aria-busy={writing} className="group">
      {agent && <AgentName agent={agent} />}
      <ImportCards asked={asked} without={byTool} onRead={onRead} />
      <ToolMessages value={toolMessages(message)}>{oncePerNotice(parts).map(say)}</ToolMessages>
      <Pictures pictures={pictures} alt={words.message.generatedImage} className="mt-3 gap-3" size="max-h-96 max-w-full" />
      {extras?.foot(message)}
      {citations && <Sources citations={citations} onCite={onCite} />}
      {!writing && citations?.length === 0 && <ToLibrary text={text} />}
      {!writing && <Ending message={message} text={text} alert={alert} onRetry={retry && meta.turn_id ? () => onRegenerate(meta.turn_id!) : undefined} />}
      {!writing && !waits && (
        <footer className="mt-1.5 flex min-h-8 flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted">
          <Footnote meta={meta} />
          <Time at={meta.created_at} />
          <span className={`-my-1 -ml-2 flex items-center transition-opacity ${acts ? "" : "opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:opacity-100"}`}>
            {text && <CopyButton text={() => withSources(withoutOffline(markRemovedQuotes(text)), citations ?? [], unverifiedOf(message))} html={(button) => htmlOf(button.closest("article")!, citations ?? [])} label={words.message.copyAnswer} />}
            {rate && <Thumbs {...rate} onAsk={setRated} />}
            {meta.turn_id && !readOnly && <IconButton size="small" icon={RotateCw} label={words.message.regenerate} disabled={locked} onClick={() => onRegenerate(meta.turn_id!)} />}
          </span>
        </footer>
      )}
      {rate && rated && !writing && <Reason key={rated} {...rate} rating={rated} onDone={() => setRated(null)} />}
    </article>
  );
});

const refreshedFor = new Set<string>(); // answers

/** Leads from a list of documents to the whole library. */
function ToLibrary({ text }: { text: string }) {
  const titled = use(Titled);
  const lists = titled !== null && listsDocuments(text, titled.find);
  const unknown = titled !== null && !lists && mayListDocuments(text);
  useEffect(() => {
    if (!unknown || refreshedFor.has(text)) return;
    refreshedFor.add(text);
    void refreshLibrary();
  }, [unknown, text]);
  if (!lists) return null;
  return (
    <Button icon={FolderOpen} className="mt-3" onClick={titled.onLibrary}>
      {words.library.openAll}
    </Button>
  );
}

interface PieceProps {
  part: Part;
  /** For a notice, how often it occurs. */
  times: number;
  /** The text of the whole answer. */
  text: string;
  meta: Metadata;
  over: boolean;
  open: boolean;
  writing: boolean;
  citations: Citation[] | undefined;
  onCite: (c: Citation) => void;
  onRead: (doc: DocRef) => void;
}

const quiet = "my-3 border-s-2 border-line ps-3 text-sm text-muted";

/** Shows the import that a tool call started, once it exists. */
function ImportCall({ part, over, onRead }: { part: ToolPart; over: boolean; onRead: (doc: DocRef) => void }) {
  const { items } = use(Imports);
  const link = readLink(importLink(part) ?? "");
  const item = link && importOf(items, link.key);
  return item ? <ImportCard item={item} kind={link.kind} onRead={onRead} /> : <ToolCard part={part} over={over} />;
}

function Piece({ part, times, text, meta, over, open, writing, citations, onCite, onRead }: PieceProps) {
  const tool = toolOf(part);
  const own = use(Extras)?.card;
  const card = tool && own?.(tool, over);
  if (card) return card;
  if (tool && importLink(tool)) return <ImportCall part={tool} over={over} onRead={onRead} />;
  if (tool) return <ToolCard part={tool} over={over} text={text} />;
  switch (part.type) {
    case "text":
      return part.text ? (
        <div data-said className="not-first:mt-3">
          <Prose text={part.text} citations={citations} unverified={meta.unverified} writing={writing} onCite={onCite} />
        </div>
      ) : null;
    case "reasoning": {
      if (!part.text.trim()) return null;
      const seconds = thoughtFor(part);
      return (
        <details className={quiet}>
          <summary className="cursor-pointer">{part.state === "streaming" && writing ? words.message.thinking : words.message.thought(seconds)}</summary>
          <p data-said dir="auto" className="mt-1 whitespace-pre-wrap">
            {part.text.trim()}
          </p>
        </details>
      );
    }
    case "data-notice":
      return <Noticed notice={part.data} times={times} over={over} />;
    case "data-interrupt": {
      if ((open && !part.data.answered) || saidByCards(part.data)) return null;
      const unanswered = endedUnanswered(part.data, meta);
      const said = replyText(part.data, meta);
      return (
        <div className={quiet}>
          <p data-said dir="auto">
            {question(part.data)}
          </p>
          {unanswered && part.data.closest && (
            <div className="mt-2">
              <Passages citations={part.data.closest} onCite={onCite} />
            </div>
          )}
          {said && (
            <p data-said dir="auto" className="mt-0.5 font-medium text-ink">
              {said}
            </p>
          )}
        </div>
      );
    }
    default:
      return null;
  }
}

/** Says why there is no answer. */
const unanswered = (meta: Metadata): string =>
  meta.error ? failure(meta.error) : meta.finished_reason === "error" ? words.message.failed : meta.interrupted_reason === "superseded" ? words.message.skipped : interruption(meta);

/** Says that a turn was cancelled or failed, and why. A failed turn can be retried, also after a reload. */
function Ending({ message, text, alert, onRetry }: { message: Message; text: string; alert: boolean; onRetry: (() => void) | undefined }) {
  const meta = message.metadata ?? {};
  if (!saysEnding(message)) return null;
  const blank = text.trim() === "";
  return (
    <>
      {!blank && (
        <p className="mt-3">
          <span className="inline-flex items-center rounded-full bg-warn-soft px-2.5 py-0.5 text-xs font-medium text-warn">{interruption(meta)}</span>
        </p>
      )}
      {(blank || meta.error) && (
        <p key={String(alert)} role={alert ? "alert" : undefined} className={`text-sm ${meta.error ? "text-bad" : "text-muted italic"} ${blank ? "" : "mt-2"}`}>
          {unanswered(meta)}
        </p>
      )}
      {meta.error?.retryable && onRetry && (
        <Button icon={RotateCw} className="mt-2" onClick={onRetry}>
          {words.common.tryAgain}
        </Button>
      )}
    </>
  );
}
