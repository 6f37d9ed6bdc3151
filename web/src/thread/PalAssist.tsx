import { FileText, Files, Sparkles } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { useConfig } from "../api/useConfig";
import { Button } from "../ui/Button";
import { composing } from "../ui/composing";
import { words } from "../words";
import { option, question as questionText } from "../words/wire";
import type { Draft } from "./approval";
import { ToolApproval } from "./ToolApproval";
import type { Question, ResumeValue } from "./types";

interface Props {
  question: Question;
  /** The composer has been asked for documents to answer with. */
  tagging: boolean;
  /** Decisions about tools that are being made, by question. */
  decisions: Map<string, Draft[]>;
  onAnswer: (value: ResumeValue) => void;
  onTag: () => void;
}

const ALL = "all";
const TAG = "tag_docs";
const WEB = "web_search"; // offered only where it can be done

/** The question that a turn waits on, above the composer. Escape cancels. */
export function PalAssist({ question, tagging, decisions: made, onAnswer, onTag }: Props) {
  const box = useRef<HTMLElement>(null);
  const cancel = () => onAnswer({ type: "cancel", value: null });

  // Who uses the keyboard goes on here, not at the top of the page; not on a
  // button, which the next key of somebody who is typing would press.
  useEffect(() => {
    if (question.interrupt_type !== "text_input" && !tagging) box.current?.focus({ preventScroll: true });
  }, [question.interrupt_type, tagging]);

  return (
    <section
      ref={box}
      tabIndex={-1}
      data-question
      aria-label={words.question.label}
      className="slide-up mb-3 max-h-[60dvh] overflow-y-auto rounded-2xl border border-accent/60 bg-surface p-4 shadow-soft outline-none focus:border-accent"
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented || composing(e.nativeEvent)) return;
        e.stopPropagation();
        cancel();
      }}
    >
      <p className="flex items-start gap-2.5 font-medium" role="alert">
        <Sparkles aria-hidden className="mt-1 size-4 shrink-0 text-accent" />
        <span className="min-w-0">{questionText(question)}</span>
      </p>
      <div className="mt-3 sm:ml-6.5">
        {question.interrupt_type === "tool_approval" ? (
          <ToolApproval
            calls={question.tool_calls ?? []}
            kept={made.get(question.interrupt_id) ?? []}
            onKeep={(drafts) => made.set(question.interrupt_id, drafts)}
            onDecide={(decisions) => onAnswer({ type: "tool_approval", value: null, decisions })}
            onCancel={cancel}
          />
        ) : (
          <Choices question={question} tagging={tagging} onAnswer={onAnswer} onTag={onTag} onCancel={cancel} />
        )}
      </div>
    </section>
  );
}

function Choices({ question, tagging, onAnswer, onTag, onCancel }: Omit<Props, "decisions"> & { onCancel: () => void }) {
  const type = question.interrupt_type;
  const { webSearch } = useConfig();
  const options = (question.options ?? []).filter((o) => webSearch || type !== "retrieval_low" || o.id !== WEB);
  const isAll = (o: { id: string }) => type === "doc_choice" && o.id === ALL;
  const all = options.find(isAll);
  const choose = (id: string) => (type === "retrieval_low" && id === TAG ? onTag() : onAnswer({ type, value: id }));
  return (
    <>
      {type === "text_input" && <Hint>{words.question.answerBelow}</Hint>}
      {tagging && <Hint>{words.question.chooseBelow}</Hint>}
      <div className="flex flex-wrap items-center gap-2">
        {options
          .filter((o) => !isAll(o))
          .map((o) => (
            <Button key={o.id} className="h-auto! min-h-9 max-w-full shrink! border-accent/50! py-1.5 text-left text-accent hover:bg-accent-soft!" onClick={() => choose(o.id)}>
              {type === "doc_choice" && <FileText aria-hidden className="size-4 shrink-0" />}
              <span className="min-w-0">{option(type, o)}</span>
            </Button>
          ))}
        {all && (
          <>
            <span aria-hidden className="mx-1 h-5 w-px bg-line" />
            <Button className="border-dashed! text-accent" onClick={() => choose(all.id)}>
              <Files aria-hidden className="size-4 shrink-0" />
              {option(type, all)}
            </Button>
          </>
        )}
        <Button variant="plain" onClick={onCancel}>
          {words.common.cancel}
        </Button>
      </div>
    </>
  );
}

const Hint = ({ children }: { children: ReactNode }) => <p className="-mt-2 mb-3 text-sm text-muted">{children}</p>;
