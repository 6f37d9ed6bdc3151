import { Ban, Check, ChevronRight, CircleAlert, Hand, LoaderCircle, Wrench } from "lucide-react";
import { createContext, Suspense, use, useState } from "react";
import type { Coded } from "../api/coded";
import { Boundary } from "../shell/Boundary";
import { lazy } from "../ui/lazy";
import { words } from "../words";
import { toolLabel, worded } from "../words/wire";
import { isDrawing } from "./drawing";
import { Drawing } from "./Drawing";
import { escapeUnseen } from "./json";
import { toolName, type ToolPart } from "./parts";

const ConnectButton = lazy(() => import("../imports/ServersDialog").then((m) => ({ default: m.ConnectButton })));
const ToolDetails = lazy(() => import("./ToolDetails"));

const states = {
  running: { icon: LoaderCircle, look: "text-accent animate-spin motion-reduce:animate-none" },
  asks: { icon: Hand, look: "text-warn" },
  done: { icon: Check, look: "text-good" },
  failed: { icon: CircleAlert, look: "text-bad" },
  denied: { icon: Ban, look: "text-muted" },
  undecided: { icon: Ban, look: "text-muted" },
  unfinished: { icon: Ban, look: "text-muted" },
} as const;

/** The codes of calls that failed or have no result, by id. */
export const ToolMessages = createContext<ReadonlyMap<string, Coded>>(new Map());

function stateOf(p: ToolPart, over: boolean, code: string | undefined): keyof typeof states {
  switch (p.state) {
    case "approval-requested":
      return over ? "undecided" : "asks";
    case "output-available":
      return "done";
    case "output-error":
      if (code === "tool.undecided") return "undecided";
      return code === "tool.stopped" ? "unfinished" : "failed";
    case "output-denied":
      return "denied";
    case "approval-responded":
      if (p.approval?.approved === false) return "denied";
  }
  return over ? "unfinished" : "running";
}

/** Ids of the expanded calls. A card that is scrolled far away unmounts; it is expanded when it returns. */
export const Opened = createContext<Set<string>>(new Set());

interface Props {
  part: ToolPart;
  over: boolean;
  /** The text of its answer. */
  text?: string;
}

/** Shows a tool call and its state; expanded, also its arguments and result. */
export function ToolCard({ part, over, text = "" }: Props) {
  const opened = use(Opened);
  const [open, setOpen] = useState(opened.has(part.toolCallId));
  const toggle = () => {
    if (!opened.delete(part.toolCallId)) opened.add(part.toolCallId);
    setOpen(!open);
  };
  const said = use(ToolMessages).get(part.toolCallId);
  const state = stateOf(part, over, said?.message_code);
  const { icon: Glyph, look } = states[state];
  const name = toolName(part);
  return (
    <div role="group" aria-label={words.tools.label(name)} data-tool-state={state} className="my-3 overflow-hidden rounded-xl border border-line bg-surface">
      <button type="button" aria-expanded={open} onClick={toggle} className="flex w-full items-center gap-2.5 px-3.5 py-2.5 text-left text-sm hover:bg-sunken">
        <Wrench aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="min-w-0 flex-1 sm:flex sm:items-baseline sm:gap-2.5">
          <span className="block truncate text-[0.8125rem] font-medium sm:shrink-0">{toolLabel(name)}</span>
          <Brief input={part.input} />
          {state === "done" && part.state === "output-available" && <Beginning of={part.output} />}
        </span>
        <span className="inline-flex shrink-0 items-center gap-1.5 text-xs text-muted">
          <Glyph aria-hidden className={`size-3.5 ${look}`} />
          {words.tools[state]}
        </span>
        <ChevronRight aria-hidden className={`size-4 shrink-0 text-muted transition-transform ${open ? "rotate-90" : ""}`} />
      </button>
      {!over && isDrawing(part) && (state === "running" || state === "done") && <Drawing part={part} state={state} text={text} />}
      {(said?.message_code === "tool.connect" || said?.message_code === "tool.scope") && (
        <Boundary>
          <div className="flex flex-wrap items-center gap-3 border-t border-line px-3.5 py-2.5 text-sm">
            <span className="min-w-48 flex-1">{worded(said, "")}</span>
            <Suspense fallback={null}>
              <ConnectButton server={String(said.message_params?.server ?? "")} />
            </Suspense>
          </div>
        </Boundary>
      )}
      {open && (
        <Boundary>
          <Suspense fallback={null}>
            <ToolDetails part={part} said={said} />
          </Suspense>
        </Boundary>
      )}
    </div>
  );
}

/** The arguments on one line, for a closed card. */
function Brief({ input }: { input: unknown }) {
  if (typeof input !== "object" || input === null) return null;
  const line = simple(input);
  if (line === "") return null;
  return (
    <span dir="auto" className="block min-w-0 truncate text-xs text-muted">
      {line.slice(0, 200)}
    </span>
  );
}

/** The texts and numbers directly in an object, or in the first object of a list. */
function simple(value: unknown): string {
  if (Array.isArray(value) && typeof value[0] === "object") return simple(value[0]);
  if (typeof value !== "object" || value === null) return "";
  const all = Object.values(value);
  const texts = all.filter((v) => typeof v === "string" && v !== "");
  const others = all.filter((v) => typeof v === "number" || typeof v === "boolean");
  return [...texts, ...others].map((v) => escapeUnseen(String(v))).join(", ");
}

const MOST_JSON = 20_000; // maximum characters of a result to parse

/** The first values of a result that is JSON. */
function values(output: string): string | null {
  if (!/^\s*[[{]/.test(output)) return null;
  try {
    return output.length > MOST_JSON ? "" : simple(JSON.parse(output));
  } catch {
    return null; // not JSON, only text that begins with a bracket
  }
}

/** The beginning of a result on one line, for a closed card. */
function Beginning({ of: output }: { of: unknown }) {
  if (typeof output !== "string") return null;
  const first = values(output) ?? (/\S.*/.exec(output)?.[0] ?? "").replace(/^(?:[-*#>]+|\d+\.) +/, "");
  const line = first.trim().slice(0, 200);
  if (line === "") return null;
  return (
    <span dir="auto" className="block min-w-0 truncate text-xs sm:before:mr-2 sm:before:text-muted sm:before:content-['→']">
      {line}
    </span>
  );
}
