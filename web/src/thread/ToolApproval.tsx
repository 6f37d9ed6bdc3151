import { Eye, PencilLine, TriangleAlert, Wrench } from "lucide-react";
import { useId, useRef, useState } from "react";
import type { Detail } from "../api/http";
import { Button } from "../ui/Button";
import { words } from "../words";
import { toolAbout, toolLabel } from "../words/wire";
import { argumentsProblem, asForm, asJSON, decide, draftOf, formOf, refusedArguments, type Draft } from "./approval";
import type { Field, Inputs } from "./schema";
import { ToolFields, ToolValues } from "./ToolFields";
import type { AskedCall, Decision, ToolInfo } from "./types";

interface Props {
  calls: AskedCall[];
  /** The tools of the calls; empty for questions that an older server asked. */
  tools: readonly ToolInfo[];
  /** Draft decisions; empty at first. They survive an answer that the server rejects. */
  kept: Draft[];
  /** What the server says about an answer that it rejected. */
  refused: readonly Detail[];
  onKeep: (drafts: Draft[]) => void;
  onDecide: (decisions: Decision[]) => void;
  onCancel: () => void;
}

/** Asks the user to approve tool calls. Some calls have arguments that can be changed. */
export function ToolApproval({ calls, tools, kept, refused, onKeep, onDecide, onCancel }: Props) {
  const [drafts, setDrafts] = useState<Draft[]>(() => (kept.length > 0 ? kept : calls.map(draftOf)));
  const [tried, setTried] = useState(refused.length > 0);
  const box = useRef<HTMLDivElement>(null);
  const one = calls.length === 1;
  const edit = (i: number, change: Partial<Draft>) => {
    const next = drafts.map((d, at) => (at === i ? { ...d, ...change } : d));
    setDrafts(next);
    onKeep(next);
  };
  const send = (all?: Decision["decision"]) => {
    const said = all ? drafts.map((d) => ({ ...d, decision: all })) : drafts;
    const decisions = decide(calls, said, tools);
    if (decisions) {
      onKeep(drafts.map((d) => ({ ...d, corrected: [] })));
      return onDecide(decisions);
    }
    setTried(true);
    box.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  };
  return (
    <div ref={box} className="space-y-3">
      {calls.map((call, i) => (
        <Call
          key={call.id}
          call={call}
          tool={tools.find((t) => t.name === call.name)}
          draft={drafts[i]!}
          refused={refusedArguments(refused, i, formOf(call, drafts[i]!, tools))}
          choose={!one}
          tried={tried}
          onChange={(change) => edit(i, change)}
        />
      ))}
      <div className="sticky bottom-0 -mx-4 -mb-4 flex flex-wrap gap-2 rounded-b-2xl bg-surface px-4 pt-2 pb-4">
        <Button variant="primary" onClick={() => send(one ? "approved" : undefined)}>
          {one ? words.tools.approve : words.tools.sendDecisions}
        </Button>
        {one && <Button onClick={() => send("rejected")}>{words.tools.reject}</Button>}
        <Button variant="plain" onClick={onCancel}>
          {words.tools.stop}
        </Button>
      </div>
    </div>
  );
}

interface CallProps {
  call: AskedCall;
  tool: ToolInfo | undefined;
  draft: Draft;
  refused: Inputs;
  /** Whether there are several calls, each with its own decision. */
  choose: boolean;
  tried: boolean;
  onChange: (change: Partial<Draft>) => void;
}

function Call({ call, tool, draft, refused, choose, tried, onChange }: CallProps) {
  const id = useId();
  const name = toolLabel(call.name);
  const undecided = choose && tried && draft.decision === null;
  return (
    <fieldset className="min-w-0 rounded-xl border border-line p-3">
      <legend className={choose ? "flex items-center gap-1.5 px-1 text-[0.8125rem] font-medium" : "sr-only"}>
        <Wrench aria-hidden className="size-3.5 text-muted" /> {name}
      </legend>
      {tool && <About tool={tool} />}
      <Arguments call={call} tool={tool} draft={draft} refused={refused} tried={tried} onChange={onChange} />
      {choose && (
        <div role="radiogroup" aria-label={words.tools.decisionOn(name)} className="mt-3 flex gap-4 text-sm">
          {(["approved", "rejected"] as const).map((v) => (
            <label key={v} className="inline-flex items-center gap-1.5">
              <input type="radio" name={`${id}-decision`} className="accent-accent" checked={draft.decision === v} onChange={() => onChange({ decision: v })} />
              {v === "approved" ? words.tools.approve : words.tools.reject}
            </label>
          ))}
        </div>
      )}
      {undecided && (
        <p role="alert" className="mt-1 text-xs text-bad">
          {words.tools.decide}
        </p>
      )}
      <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm text-muted">
        <label className="inline-flex items-center gap-1.5">
          <input type="checkbox" className="accent-accent" checked={draft.remember} onChange={(e) => onChange({ remember: e.target.checked })} />
          {words.tools.remember}
        </label>
        <input
          aria-label={words.tools.reasonFor(name)}
          placeholder={words.tools.reasonHint}
          value={draft.reason}
          maxLength={1000}
          onChange={(e) => onChange({ reason: e.target.value })}
          className="h-8 min-w-40 flex-1 rounded-lg border border-line bg-surface px-2.5 text-ink placeholder:text-muted focus:border-accent"
        />
      </div>
    </fieldset>
  );
}

const effects = {
  reads: { icon: Eye, look: "text-muted" },
  changes: { icon: PencilLine, look: "text-muted" },
  destroys: { icon: TriangleAlert, look: "text-warn" },
} as const;

const LONG = 160; // maximum characters of a description that is shown in full

/** Shows what a tool does, and whether it changes something. A server that says nothing of it is taken to make changes. */
function About({ tool }: { tool: ToolInfo }) {
  const [whole, setWhole] = useState(false);
  const { icon: Glyph, look } = effects[tool.effect] ?? effects.changes;
  const about = toolAbout(tool);
  const effect = words.tools.effects[tool.effect] ?? words.tools.effects.changes;
  return (
    <div className="mb-3 text-sm">
      {about && (
        <p dir="auto" className={`text-muted ${whole ? "max-h-60 overflow-auto whitespace-pre-wrap" : "line-clamp-2"}`} tabIndex={whole ? 0 : undefined}>
          {about}
        </p>
      )}
      {about.length > LONG && !whole && (
        <button type="button" className="text-xs font-medium text-accent underline pointer-coarse:py-3" onClick={() => setWhole(true)}>
          {words.tools.moreAbout}
        </button>
      )}
      <p className={`mt-1 flex items-center gap-1.5 text-xs font-medium ${look}`}>
        <Glyph aria-hidden className="size-3.5 shrink-0" />
        {tool.server && tool.effect !== "changes" ? words.tools.effectBy(effect, tool.server) : effect}
      </p>
    </div>
  );
}

type ArgumentsProps = Omit<CallProps, "choose">;

/** Shows the arguments as fields, or as JSON. */
function Arguments({ call, tool, draft, refused, tried, onChange }: ArgumentsProps) {
  const tools = tool ? [tool] : [];
  const fields = formOf(call, draft, tools);
  const form = fields ? null : draft.as === "json" && asForm(call, draft, tools);
  const edits = call.editable && draft.decision !== "rejected";
  const general = edits ? refused[""] : undefined;
  if (!fields && !general && takesNothing(call, tool)) return null;
  return (
    <div>
      {fields ? (
        <Form call={call} draft={draft} fields={fields} refused={draft.decision === "rejected" ? {} : refused} tried={tried} onChange={onChange} />
      ) : (
        <Text call={call} draft={draft} tried={tried} onChange={onChange} />
      )}
      {general && (
        <p role="alert" className="mt-1 text-xs text-bad">
          {general}
        </p>
      )}
      {fields && (
        <Toggle onClick={() => onChange(asJSON(call, draft, fields))}>{words.tools.asJSON}</Toggle>
      )}
      {form && <Toggle onClick={() => onChange(form)}>{words.tools.asForm}</Toggle>}
    </div>
  );
}

/** Whether there is nothing to show or to change: the tool has no arguments. */
const takesNothing = (call: AskedCall, tool: ToolInfo | undefined): boolean =>
  Object.keys(call.arguments).length === 0 && typeof tool?.schema === "object" && Object.keys((tool.schema as { properties?: object } | null)?.properties ?? {}).length === 0;

const Toggle = ({ onClick, children }: { onClick: () => void; children: string }) => (
  <button type="button" className="mt-2 inline-flex min-h-6 items-center text-xs font-medium text-muted underline hover:text-ink pointer-coarse:min-h-11" onClick={onClick}>
    {children}
  </button>
);

function Form({ call, draft, fields, refused, tried, onChange }: Omit<ArgumentsProps, "tool"> & { fields: Field[] }) {
  if (!call.editable) return <ToolValues fields={fields} args={draft.args} />;
  const still = Object.fromEntries(Object.entries(refused).filter(([name]) => !draft.corrected.includes(name)));
  return (
    <ToolFields
      fields={fields}
      args={draft.args}
      inputs={draft.inputs}
      refused={still}
      tried={tried}
      onChange={(name, input) => onChange({ inputs: { ...draft.inputs, [name]: input }, corrected: [...draft.corrected, name] })}
    />
  );
}

function Text({ call, draft, tried, onChange }: Omit<ArgumentsProps, "tool" | "refused">) {
  const id = useId();
  const wrong = call.editable && draft.decision !== "rejected" ? draft.problem : "";
  return (
    <>
      <label htmlFor={id} className="text-xs font-medium text-muted">
        {words.tools.details}
      </label>
      <textarea
        id={id}
        readOnly={!call.editable}
        spellCheck={false}
        rows={Math.min(12, Math.max(2, draft.text.split("\n").length))}
        value={draft.text}
        aria-invalid={wrong !== "" || undefined}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onChange={(e) => onChange({ text: e.target.value, problem: argumentsProblem(e.target.value, call) })}
        className="mt-1 block max-h-80 w-full resize-y field-sizing-content rounded-lg border border-line bg-surface px-3 py-2 font-mono text-xs leading-relaxed focus:border-accent read-only:bg-sunken read-only:text-muted aria-invalid:border-bad"
      />
      {wrong && (
        <p id={`${id}-wrong`} role={tried ? "alert" : undefined} className="mt-1 text-xs text-bad">
          {wrong}
        </p>
      )}
    </>
  );
}
