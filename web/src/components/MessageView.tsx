import { memo } from "react";
import type { Citation, Message, MessageMetadata } from "../api/types";
import { cost, tokens, weakest } from "../lib/format";
import { Markdown } from "./Markdown";
import { Sources } from "./Sources";

export const MessageView = memo(function MessageView({ message, onCite }: { message: Message; onCite: (c: Citation) => void }) {
  const meta = message.metadata ?? {};
  if (message.role === "system") return <p className="border-l-2 border-line pl-3 text-sm text-muted">{message.content}</p>;
  if (message.role === "user") {
    return (
      <article aria-label="You" className="ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 whitespace-pre-wrap">
        {message.content}
      </article>
    );
  }
  return (
    <article aria-label="Palaver">
      <Markdown text={message.content} citations={meta.interrupted ? undefined : (meta.citations ?? none)} onCite={onCite} />
      <Sources citations={meta.citations ?? none} onCite={onCite} />
      {meta.interrupted && <p className="mt-2 text-sm text-warn italic">Response interrupted</p>}
      <Footnote meta={meta} />
    </article>
  );
});

const none: Citation[] = [];
const dots = { high: "bg-good", medium: "bg-warn", low: "bg-bad" };

function Footnote({ meta }: { meta: MessageMetadata }) {
  const confidence = weakest(meta.inference_confidence, meta.retrieval_confidence);
  const parts: string[] = [];
  if (meta.tokens_used !== undefined) parts.push(tokens(meta.tokens_used));
  if (meta.tokens_used !== undefined && meta.cost_usd !== undefined) parts.push(cost(meta.cost_usd));
  if (!confidence && parts.length === 0) return null;
  const detail = `Understanding of the request: ${meta.inference_confidence ?? "not known"}. Match in the sources: ${meta.retrieval_confidence ?? "not known"}.`;
  return (
    <p className="mt-3 flex flex-wrap items-center gap-x-3 text-xs text-muted" title={confidence && detail}>
      {confidence && (
        <span className="inline-flex items-center gap-1.5">
          <span aria-hidden="true" className={`size-2 rounded-full ${dots[confidence]}`} />
          {confidence} confidence
        </span>
      )}
      {parts.length > 0 && <span>{parts.join(" · ")}</span>}
    </p>
  );
}
