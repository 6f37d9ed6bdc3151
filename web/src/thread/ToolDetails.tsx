import type { Coded } from "../api/coded";
import { words } from "../words";
import { worded } from "../words/wire";
import { pretty } from "./json";
import type { ToolPart } from "./parts";

const MOST = 20_000;

/** Shows the arguments and the result of a tool call as plain text. */
export default function ToolDetails({ part, said = {} }: { part: ToolPart; said?: Coded | undefined }) {
  return (
    <div className="space-y-3 border-t border-line px-3.5 py-3">
      <Piece title={words.tools.details} value={part.input ?? {}} />
      {part.state === "output-available" && <Piece title={words.tools.result} value={part.output} />}
      {part.state === "output-error" && <Piece title={words.tools.error} value={worded(said, part.errorText)} />}
      {part.state === "output-denied" && part.approval?.reason && <Piece title={words.tools.reason} value={part.approval.reason} />}
    </div>
  );
}

function Piece({ title, value }: { title: string; value: unknown }) {
  const text = pretty(value);
  return (
    <div>
      <h4 className="text-xs font-medium text-muted">{title}</h4>
      <pre tabIndex={0} role="group" aria-label={title} className="mt-1 max-h-72 overflow-auto rounded-lg bg-sunken px-3 py-2 text-xs leading-relaxed whitespace-pre-wrap">
        {text.slice(0, MOST)}
        {text.length > MOST && `\n${words.tools.more(text.length - MOST)}`}
      </pre>
    </div>
  );
}
