import type { Interrupt, ResumeValue } from "../api/types";
import { Icon } from "./Icon";

interface Props {
  interrupt: Interrupt;
  /** The composer has been asked for documents to answer with. */
  tagging: boolean;
  onAnswer: (value: ResumeValue, label: string) => void;
  onTag: () => void;
}

const ALL = "all";

/** The question a turn waits on, above the composer. */
export function PalAssist({ interrupt, tagging, onAnswer, onTag }: Props) {
  const type = interrupt.interrupt_type;
  const options = interrupt.options ?? [];
  const single = options.filter((o) => !(type === "doc_choice" && o.id === ALL));
  const all = options.find((o) => type === "doc_choice" && o.id === ALL);
  const choose = (o: { id: string; label: string }) => {
    if (type === "retrieval_low" && o.id === "tag_docs") return onTag();
    onAnswer({ type, value: o.id }, o.label);
  };
  return (
    <section aria-label="Palaver asks" className="slide-up mb-2 rounded-2xl border border-accent bg-surface p-4 shadow-sm">
      <p className="flex items-start gap-2 font-medium" role="alert">
        <Icon name="spark" className="mt-0.5 size-5 text-accent" />
        {interrupt.message}
      </p>
      {type === "text_input" && <p className="mt-1 ml-7 text-sm text-muted">Type your answer below, or tag documents with @.</p>}
      {tagging && <p className="mt-1 ml-7 text-sm text-muted">Tag the documents to look in below, then send.</p>}
      <div className="mt-3 ml-7 flex flex-wrap gap-2">
        {single.map((o) => (
          <button key={o.id} type="button" className="choice bg-accent text-accent-ink hover:opacity-90" onClick={() => choose(o)}>
            {type === "doc_choice" && <Icon name="doc" className="size-4" />}
            {o.label}
          </button>
        ))}
        {all && (
          <button type="button" className="choice ml-2 border-dashed text-accent hover:bg-accent-soft" onClick={() => choose(all)}>
            <Icon name="docs" className="size-4" />
            {all.label}
          </button>
        )}
        <button type="button" className="choice border-transparent text-muted hover:bg-sunken hover:text-ink" onClick={() => onAnswer({ type: "cancel", value: null }, "")}>
          Cancel
        </button>
      </div>
    </section>
  );
}
