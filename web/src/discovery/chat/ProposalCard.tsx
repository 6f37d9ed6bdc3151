import { Ban, Check, CircleAlert, Hand, Layers, LoaderCircle, Undo2, type LucideIcon } from "lucide-react";
import { createContext, use, useRef, useState } from "react";
import type { ToolPart } from "../../thread/parts";
import { ToolCard } from "../../thread/ToolCard";
import { Button } from "../../ui/Button";
import { toast } from "../../ui/toast";
import { boardWords } from "../../words/discovery";
import { worded } from "../../words/wire";
import { codeOf, decide, problemText, similarIn, undo, type Decision } from "../api";
import { before, MAX_TEXT, type Kind, type Params, type Proposal, type ProposalState } from "../board";
import { useShown } from "../context";
import { Diff } from "../Diff";
import { Evidence } from "../Evidence";
import { field, Labelled, Problem } from "../../ui/fields";
import { OutputType } from "../OutputType";
import { Quoted } from "../Quoted";
import { Relations } from "../Relations";
import { DocumentOf } from "../Source";
import { changedItem, isOpen, paramsOf, toolKind } from "./proposals";
import { Reference } from "./Reference";

/** Unconfirmed edits of proposals, by id. A card that is scrolled far away unmounts; its edits are kept here until it returns. */
export const Edited = createContext<Map<string, Params>>(new Map());

const icons: Record<ProposalState, LucideIcon> = { pending: Hand, applied: Check, cancelled: Ban, error: CircleAlert, overtaken: Layers };
const colors: Record<ProposalState, string> = { pending: "text-warn", applied: "text-good", cancelled: "text-muted", error: "text-bad", overtaken: "text-muted" };

/** Shows a change that the assistant proposes, and its state. */
export function ProposalCard({ part, over }: { part: ToolPart; over: boolean }) {
  const { board } = useShown();
  const proposal = board.proposals.find((p) => p.id === part.toolCallId);
  if (proposal) return <Card proposal={proposal} />;
  if (over || part.state === "output-error") return <ToolCard part={part} over={over} />; // the call failed, or its turn ended without a proposal
  const params = paramsOf(part);
  return (
    <section aria-busy className="my-3 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-sm text-muted">
      <p className="flex items-center gap-2 font-medium">
        <LoaderCircle aria-hidden className="size-4 animate-spin motion-reduce:animate-none" /> {titleOf({ tool: toolKind(part), params })} · {boardWords.card.preparing}
      </p>
    </section>
  );
}

const titleOf = ({ tool, params }: Pick<Proposal, "tool" | "params">): string => {
  if (tool === "add_item") return boardWords.card.add[params.entity_type ?? "fact"];
  return (tool === "edit_item" ? boardWords.card.edit : boardWords.card.delete)(params.item_id ?? "");
};

function Card({ proposal }: { proposal: Proposal }) {
  const { board, graph } = useShown();
  const edited = use(Edited);
  const box = useRef<HTMLDivElement>(null);
  const [draft, setDraft] = useState<Params | undefined>(() => edited.get(proposal.id));
  const [editing, setEditing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const [similar, setSimilar] = useState<string[]>([]);

  const { tool, state } = proposal;
  const params = isOpen(proposal) ? (draft ?? proposal.params) : proposal.params;
  const open = isOpen(proposal);
  const changed = changedItem(proposal, board);

  const edit = (change: Partial<Params>) => {
    const next = { ...params, ...change };
    edited.set(proposal.id, next);
    setDraft(next);
    setSimilar([]);
  };

  const send = async (decision: Decision) => {
    const had = box.current?.contains(document.activeElement);
    setBusy(true);
    setProblem("");
    try {
      await decide(board.id, proposal.id, decision);
      setSimilar([]);
    } catch (err) {
      const ids = similarIn(err);
      setSimilar(ids);
      if (codeOf(err) !== "already_decided" && codeOf(err) !== "item_changed") setProblem(problemText(err));
    }
    setBusy(false);
    setEditing(false);
    if (had) box.current?.focus({ preventScroll: true }); // its button may be unmounted
  };
  const confirm = () =>
    send({ decision: "confirm", ...(draft && { params: draft }), ...(similar.length > 0 && { allow_similar: true as const }), ...(changed && { overwrite: true as const }) });

  const Glyph = icons[state];
  const why = problem || (state === "error" && !changed ? worded(proposal, proposal.reason ?? "") : "");
  const text = (tool === "add_item" ? params.text : params.new_text) ?? "";
  const length = [...text.trim()].length;
  const made = proposal.result?.items?.[0];
  const undoable = state === "applied" && board.changes.some((c) => c.n === proposal.result?.change);
  return (
    <div
      role="group"
      ref={box}
      tabIndex={-1}
      aria-label={titleOf(proposal)}
      data-proposal={proposal.id}
      data-state={state}
      className={`my-3 rounded-xl border bg-surface px-3.5 py-3 text-sm outline-none ${state === "error" || why ? "border-bad" : "border-line"} ${open ? "" : "text-muted"}`}
    >
      <header className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h4 className="min-w-0 flex-1 font-semibold">{titleOf(proposal)}</h4>
        <span role="status" className="inline-flex items-center gap-1.5 text-xs text-muted">
          <Glyph aria-hidden className={`size-3.5 ${colors[state]}`} />
          {boardWords.card.states[state]}
        </span>
      </header>
      {editing ? (
        <Editor proposal={proposal} params={params} onChange={edit} />
      ) : (
        <Content proposal={proposal} params={params} />
      )}
      {changed && (
        <div className="mt-2 space-y-1.5 rounded-lg border border-warn p-2">
          <p role="alert" className="font-medium text-warn">
            {boardWords.card.changed}
          </p>
          <Quoted label={boardWords.card.seen} text={proposal.seen!.text} />
          <Quoted label={boardWords.card.now} text={changed.text} />
        </div>
      )}
      {similar.length > 0 ? (
        <div role="alert" className="mt-2 space-y-1.5 rounded-lg border border-warn p-2">
          <p className="font-medium text-warn">{boardWords.card.similar}</p>
          {similar.map((id) => (
            <div key={id} className="flex items-start gap-2">
              <Reference id={id} />
              <p dir="auto" className="line-clamp-4 min-w-0 flex-1">
                {graph.find(id)?.text}
              </p>
            </div>
          ))}
        </div>
      ) : (
        why && (
          <div className="mt-2">
            <Problem text={why} />
          </div>
        )
      )}
      {open && (
        <div className="mt-3 flex flex-wrap gap-2">
          <Button variant="primary" disabled={busy || (tool !== "delete_item" && (length === 0 || length > MAX_TEXT))} className={tool === "delete_item" ? "bg-bad! text-surface!" : ""} onClick={() => void confirm()}>
            {labelOf(proposal, similar.length > 0, changed !== undefined)}
          </Button>
          {tool !== "delete_item" && (
            <Button aria-expanded={editing} onClick={() => setEditing(!editing)}>
              {editing ? boardWords.card.doneEditing : boardWords.card.change}
            </Button>
          )}
          <Button variant="plain" disabled={busy} onClick={() => void send({ decision: "cancel" })}>
            {boardWords.card.cancel}
          </Button>
        </div>
      )}
      {state === "applied" && (made || undoable) && (
        <footer className="mt-2 flex flex-wrap items-center gap-2 text-xs">
          {made && tool === "add_item" && (
            <span className="flex items-center gap-1">
              {boardWords.card.appliedAs("")} <Reference id={made} />
            </span>
          )}
          {undoable && (
            <Button icon={Undo2} variant="plain" className="ml-auto h-8!" onClick={() => void undo(board.id, proposal.result!.change!).catch((err: unknown) => toast.error(boardWords.changes.failed(problemText(err))))}>
              {boardWords.card.undo}
            </Button>
          )}
        </footer>
      )}
    </div>
  );
}

function labelOf({ tool }: Proposal, similar: boolean, changed: boolean): string {
  if (similar) return boardWords.card.addAnyway;
  if (tool === "delete_item") return changed ? boardWords.card.deleteAnyway : boardWords.card.confirmDelete;
  if (changed) return boardWords.card.overwrite;
  return tool === "add_item" ? boardWords.card.confirm : boardWords.card.apply;
}

/** Shows what a proposal changes. */
function Content({ proposal, params }: { proposal: Proposal; params: Params }) {
  const { graph, sources } = useShown();
  const { tool } = proposal;
  if (tool === "add_item") {
    const type = (boardWords.outputTypes as Readonly<Record<string, string>>)[params.output_type ?? ""];
    return (
      <div className="mt-1.5 space-y-1.5">
        {type && <p className="text-xs text-muted">{type}</p>}
        {params.document_id && (
          <p className="flex flex-wrap items-center gap-1.5 font-medium">
            <span dir="auto">{params.title}</span>
            <DocumentOf doc={{ id: params.document_id, title: params.title ?? "" }} onOpen={sources.document} />
          </p>
        )}
        <p dir="auto" className="max-h-60 overflow-y-auto whitespace-pre-wrap">
          {params.text}
        </p>
        {(params.related_ids?.length ?? 0) > 0 && (
          <p className="flex flex-wrap items-center gap-1 text-xs text-muted">
            {boardWords.item.buildsOn("")}
            {params.related_ids!.map((id) => (
              <Reference key={id} id={id} />
            ))}
          </p>
        )}
        {params.citation && <Evidence cited={params.citation} onOpen={sources.passage} />}
      </div>
    );
  }
  const id = params.item_id ?? "";
  const item = graph.find(id);
  if (tool === "delete_item") {
    return (
      <div className="mt-1.5 space-y-1.5">
        <p dir="auto" className="line-clamp-4 whitespace-pre-wrap">
          {item?.text ?? proposal.seen?.text}
        </p>
        {isOpen(proposal) && item && <p className="font-medium text-warn">{boardWords.card.downstream(graph.down(id).size)}</p>}
      </div>
    );
  }
  return (
    <div className="mt-1.5">
      <p className="text-xs text-muted">
        {boardWords.card.before} → {boardWords.card.after}
      </p>
      <Diff before={proposal.seen?.text || item?.text || ""} after={params.new_text ?? ""} />
    </div>
  );
}

/** Edits a proposal before it is confirmed. */
function Editor({ proposal, params, onChange }: { proposal: Proposal; params: Params; onChange: (change: Partial<Params>) => void }) {
  const { board } = useShown();
  const add = proposal.tool === "add_item";
  const kind: Kind = params.entity_type ?? "fact";
  const text = (add ? params.text : params.new_text) ?? "";
  return (
    <div className="mt-2 space-y-3">
      {!add && <Quoted label={boardWords.card.before} text={proposal.seen?.text ?? ""} />}
      <Labelled label={add ? boardWords.form.text : boardWords.card.after}>
        {(id) => (
          <textarea id={id} autoFocus dir="auto" rows={4} value={text} onChange={(e) => onChange(add ? { text: e.target.value } : { new_text: e.target.value })} className={`${field} h-auto! max-h-60 resize-y py-2`} />
        )}
      </Labelled>
      {add && kind === "output" && <OutputType value={params.output_type} onChange={(output_type) => onChange({ output_type })} />}
      {add && kind !== "input" && <Relations legend={boardWords.form.relations[kind]} items={board.items.filter((i) => i.kind === before(kind))} value={params.related_ids ?? []} onChange={(related_ids) => onChange({ related_ids })} />}
    </div>
  );
}
