import { FileText, Files, Sparkles } from "lucide-react";
import { lazy, Suspense, type ReactNode } from "react";
import type { Detail } from "../api/http";
import type { Citation } from "../api/types";
import { Button } from "../ui/Button";
import { words } from "../words";
import { option, question as questionText } from "../words/wire";
import type { Draft } from "./approval";
import { ALL, type Option } from "./replies";
import { Passages } from "./Passages";
import { ToolApproval } from "./ToolApproval";
import type { Question, ResumeValue } from "./types";

const Closest = lazy(() => import("./Closest"));

interface Props {
  question: Question;
  options: Option[];
  /** The text of the user's message. */
  asked: string;
  /** Ids of the searched documents; empty means all. */
  searched: readonly string[];
  /** Whether the user answers with documents in the composer. */
  tagging: boolean;
  /** Draft decisions about tool calls, by interrupt_id. */
  decisions: Map<string, Draft[]>;
  /** What the server says about an answer that it rejected. */
  refused: readonly Detail[];
  onAnswer: (value: ResumeValue) => void;
  onChoose: (id: string) => void;
  onCancel: () => void;
  onCite: (c: Citation) => void;
}

/** Shows the open question below the turn's output. The composer stays usable. */
export function PalAssist({ question, options, asked, searched, tagging, decisions: made, refused, onAnswer, onChoose, onCancel, onCite }: Props) {
  return (
    <section data-question={question.interrupt_type} aria-label={words.question.label} className="slide-up mt-1 rounded-2xl border border-accent/60 bg-surface p-4 shadow-soft">
      <p className="flex items-start gap-2.5 font-medium" role="alert">
        <Sparkles aria-hidden className="mt-1 size-4 shrink-0 text-accent" />
        <span className="min-w-0">{questionText(question)}</span>
      </p>
      <div className="mt-3 sm:ml-6.5">
        {question.interrupt_type === "tool_approval" ? (
          <ToolApproval
            calls={question.tool_calls ?? []}
            tools={question.tools ?? []}
            refused={refused}
            kept={made.get(question.interrupt_id) ?? []}
            onKeep={(drafts) => made.set(question.interrupt_id, drafts)}
            onDecide={(decisions) => onAnswer({ type: "tool_approval", value: null, decisions })}
            onCancel={onCancel}
          />
        ) : (
          <>
            {question.closest && <Passages citations={question.closest} onCite={onCite} />}
            {question.interrupt_type === "retrieval_low" && !question.closest && asked && (
              <Suspense fallback={null}>
                <Closest asked={asked} searched={searched} onCite={onCite} />
              </Suspense>
            )}
            <Choices question={question} options={options} tagging={tagging} onChoose={onChoose} onCancel={onCancel} />
          </>
        )}
      </div>
    </section>
  );
}

function Choices({ question, options, tagging, onChoose, onCancel }: Pick<Props, "question" | "options" | "tagging" | "onChoose" | "onCancel">) {
  const type = question.interrupt_type;
  const several = options.length > 1;
  return (
    <>
      {type === "text_input" && <Hint>{words.question.answerBelow}</Hint>}
      {tagging && <Hint>{words.question.chooseBelow}</Hint>}
      <div className="flex flex-wrap items-center gap-2">
        {options.map((o, i) => {
          const all = type === "doc_choice" && o.id === ALL;
          const Icon = all ? Files : FileText;
          return (
            <Button key={o.id} className={`h-auto! min-h-9 max-w-full shrink! border-accent/50! py-1.5 text-left text-accent hover:bg-accent-soft! ${all ? "border-dashed!" : ""}`} onClick={() => onChoose(o.id)}>
              {several && (
                <span aria-hidden className="text-xs text-muted tabular-nums">
                  {i + 1}
                </span>
              )}
              {type === "doc_choice" && <Icon aria-hidden className="size-4 shrink-0" />}
              <span className="min-w-0">{option(o)}</span>
            </Button>
          );
        })}
        <Button variant="plain" onClick={onCancel}>
          {words.common.cancel}
        </Button>
      </div>
    </>
  );
}

const Hint = ({ children }: { children: ReactNode }) => <p className="-mt-2 mb-3 text-sm text-muted">{children}</p>;
