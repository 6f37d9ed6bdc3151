import { FileText, Files, Sparkles } from "lucide-react";
import { Suspense, type ReactNode } from "react";
import type { Detail } from "../api/http";
import type { Citation, Doc } from "../api/types";
import type { Node } from "../composer/outgoing";
import type { Outgoing } from "../composer/types";
import { Button } from "../ui/Button";
import { lazy } from "../ui/lazy";
import { words } from "../words";
import { option, question as questionText } from "../words/wire";
import type { Draft } from "./approval";
import { ALL, ASK, type Option } from "./replies";
import { Passages } from "./Passages";
import { ToolApproval } from "./ToolApproval";
import type { Question, ResumeValue } from "./types";

const AboutIt = lazy(() => import("./AboutIt"));
const Candidates = lazy(() => import("./Candidates"));
const Closest = lazy(() => import("./Closest"));

/** The questions for documents to compare, by their codes. */
const COMPARES = ["question.second_beside", "question.tag_second", "question.tag_two"];

interface Props {
  question: Question;
  options: Option[];
  /** The text of the user's message. */
  asked: string;
  /** The document that is all of the user's message. */
  alone: Doc | undefined;
  /** Ids of the searched documents; empty means all. */
  searched: readonly string[];
  /** Whether the user answers with documents in the composer. */
  tagging: boolean;
  /** Draft decisions about tool calls, by interrupt_id. */
  decisions: Map<string, Draft[]>;
  /** What the server says about an answer that it rejected. */
  refused: readonly Detail[];
  onAnswer: (value: ResumeValue, out?: Outgoing) => void;
  onChoose: (id: string) => void;
  onCancel: () => void;
  /** Asks something else in place of the question. */
  onAsk: (doc: Node) => void;
  /** Limits the conversation to a document, and lets the user write. */
  onLimit: (doc: Doc) => void;
  onCite: (c: Citation) => void;
}

/** Shows the open question below the turn's output. The composer stays usable. */
export function PalAssist({ question, options, asked, alone, searched, tagging, decisions: made, refused, onAnswer, onChoose, onCancel, onAsk, onLimit, onCite }: Props) {
  const compares = options.length > 0 && COMPARES.includes(question.message_code ?? "");
  const title = question.message_params?.title;
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
            {question.interrupt_type === "action_choice" && alone && (
              <Suspense fallback={null}>
                <AboutIt doc={alone} onAsk={onAsk} />
              </Suspense>
            )}
            {compares ? (
              <Suspense fallback={null}>
                <Candidates label={questionText(question)} found={typeof title === "string" ? title : undefined} options={options} onAnswer={onAnswer} onCancel={onCancel} />
              </Suspense>
            ) : (
              <Choices question={question} options={options} alone={alone} tagging={tagging} onChoose={onChoose} onCancel={onCancel} onLimit={onLimit} />
            )}
          </>
        )}
      </div>
    </section>
  );
}

function Choices({ question, options, alone, tagging, onChoose, onCancel, onLimit }: Pick<Props, "question" | "options" | "alone" | "tagging" | "onChoose" | "onCancel" | "onLimit">) {
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
          const about = type === "action_choice" && o.id === ASK ? alone : undefined;
          return (
            <Button key={o.id} className={`h-auto! min-h-9 max-w-full shrink! border-accent/50! py-1.5 text-left text-accent hover:bg-accent-soft! ${all ? "border-dashed!" : ""}`} onClick={() => (about ? onLimit(about) : onChoose(o.id))}>
              {several && (
                <span aria-hidden className="text-xs text-muted tabular-nums">
                  {i + 1}
                </span>
              )}
              {type === "doc_choice" && <Icon aria-hidden className="size-4 shrink-0" />}
              <span className="min-w-0">{about ? words.question.askAboutIt : option(o)}</span>
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
