import { Wrench } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "../ui/Button";
import { words } from "../words";
import { toolLabel } from "../words/wire";
import { argumentsProblem, decide, draftOf, type Draft } from "./approval";
import type { AskedCall, Decision } from "./types";

interface Props {
  calls: AskedCall[];
  /** Draft decisions; empty at first. They survive an answer that the server rejects. */
  kept: Draft[];
  onKeep: (drafts: Draft[]) => void;
  onDecide: (decisions: Decision[]) => void;
  onCancel: () => void;
}

/** Asks the user to approve tool calls. Some calls have arguments that can be changed. */
export function ToolApproval({ calls, kept, onKeep, onDecide, onCancel }: Props) {
  const [drafts, setDrafts] = useState<Draft[]>(() => (kept.length > 0 ? kept : calls.map(draftOf)));
  const [tried, setTried] = useState(false);
  const one = calls.length === 1;
  const edit = (i: number, change: Partial<Draft>) => {
    const next = drafts.map((d, at) => (at === i ? { ...d, ...change } : d));
    setDrafts(next);
    onKeep(next);
  };
  const send = (all?: Decision["decision"]) => {
    const said = all ? drafts.map((d) => ({ ...d, decision: all })) : drafts;
    const decisions = decide(calls, said);
    if (!decisions) return setTried(true);
    onDecide(decisions);
  };
  return (
    <div className="space-y-3">
      {calls.map((call, i) => (
        <Call key={call.id} call={call} draft={drafts[i]!} choose={!one} tried={tried} onChange={(change) => edit(i, change)} />
      ))}
      <div className="sticky -bottom-4 -mx-4 -mb-4 flex flex-wrap gap-2 bg-surface px-4 pt-2 pb-4">
        <Button variant="primary" onClick={() => send(one ? "approved" : undefined)}>
          {one ? words.tools.approve : words.tools.sendDecisions}
        </Button>
        {one && <Button onClick={() => send("rejected")}>{words.tools.reject}</Button>}
        <Button variant="plain" onClick={onCancel}>
          {words.common.cancel}
        </Button>
      </div>
    </div>
  );
}

interface CallProps {
  call: AskedCall;
  draft: Draft;
  /** Whether there are several calls, each with its own decision. */
  choose: boolean;
  tried: boolean;
  onChange: (change: Partial<Draft>) => void;
}

function Call({ call, draft, choose, tried, onChange }: CallProps) {
  const id = useId();
  const wrong = call.editable && draft.decision !== "rejected" ? draft.problem : "";
  const undecided = choose && tried && draft.decision === null;
  return (
    <fieldset className="rounded-xl border border-line p-3">
      <legend className="flex items-center gap-1.5 px-1 text-[0.8125rem] font-medium">
        <Wrench aria-hidden className="size-3.5 text-muted" /> {toolLabel(call.name)}
      </legend>
      <label htmlFor={`${id}-args`} className="text-xs font-medium text-muted">
        {words.tools.details}
      </label>
      <textarea
        id={`${id}-args`}
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
      {choose && (
        <div role="radiogroup" aria-label={words.tools.decisionOn(toolLabel(call.name))} className="mt-2 flex gap-4 text-sm">
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
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm text-muted">
        <label className="inline-flex items-center gap-1.5">
          <input type="checkbox" className="accent-accent" checked={draft.remember} onChange={(e) => onChange({ remember: e.target.checked })} />
          {words.tools.remember}
        </label>
        <input
          aria-label={words.tools.reasonFor(toolLabel(call.name))}
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
