import { useState } from "react";
import type { Outgoing } from "../composer/types";
import { mentionNode, messageContent } from "../composer/outgoing";
import { Button } from "../ui/Button";
import { words } from "../words";
import { option } from "../words/wire";
import { written, type Option } from "./replies";
import type { ResumeValue } from "./types";

interface Props {
  /** What is asked. */
  label: string;
  /** The title of the document that is compared in any case. */
  found: string | undefined;
  options: readonly Option[];
  onAnswer: (value: ResumeValue, out: Outgoing) => void;
  onCancel: () => void;
}

/** Chooses the documents of a comparison: the one that was found is checked already. */
export default function Candidates({ label, found, options, onAnswer, onCancel }: Props) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(ids);
    if (!next.delete(id)) next.add(id);
    setIds(next);
  };
  const compare = () => {
    const chosen = options.filter((o) => ids.has(o.id)).map((o) => mentionNode({ id: o.id, label: o.label, category: "document" }));
    const content = chosen.flatMap((node, i) => (i === 0 ? [node] : [{ type: "text", text: ", " }, node]));
    const out: Outgoing = { ...messageContent({ type: "doc", content: [{ type: "paragraph", content }] }), attachments: [], onBusy: "enqueue" };
    onAnswer(written("text_input", null, out), out);
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        compare();
      }}
    >
      <fieldset className="flex min-w-0 flex-wrap gap-2">
        <legend className="sr-only">{label}</legend>
        {found && <Candidate title={found} checked fixed />}
        {options.map((o) => (
          <Candidate key={o.id} title={option(o)} checked={ids.has(o.id)} onChange={() => toggle(o.id)} />
        ))}
      </fieldset>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button type="submit" variant="primary" disabled={ids.size + (found ? 1 : 0) < 2}>
          {words.texts["option.compare"]}
        </Button>
        <Button variant="plain" onClick={onCancel}>
          {words.common.cancel}
        </Button>
      </div>
    </form>
  );
}

function Candidate({ title, checked, fixed = false, onChange }: { title: string; checked: boolean; fixed?: boolean; onChange?: () => void }) {
  return (
    <label className={`inline-flex min-h-9 max-w-full items-center gap-2 rounded-lg border px-3.5 py-1.5 text-sm font-medium transition-colors pointer-coarse:min-h-11 has-focus-visible:outline-2 ${checked ? "border-accent bg-accent-soft" : "border-accent/50"} ${fixed ? "text-ink" : "cursor-pointer text-accent hover:bg-accent-soft"}`}>
      <input type="checkbox" checked={checked} disabled={fixed} readOnly={fixed} onChange={onChange} className="size-4 shrink-0 accent-accent" />
      <span dir="auto" className="min-w-0 break-words">
        {title}
      </span>
    </label>
  );
}
