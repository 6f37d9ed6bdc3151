import { Check, CircleAlert, Circle, ExternalLink, LoaderCircle } from "lucide-react";
import { use, useState } from "react";
import { errorText } from "../api/query";
import type { DocRef } from "../api/types";
import { Button } from "../ui/Button";
import { words } from "../words";
import { worded } from "../words/wire";
import { connectGoogle, useGoogle } from "./accounts";
import { importAgain, Imports, running, titleOf, type Import, type ImportState } from "./imports";
import { kindIcons } from "./kinds";
import { readLink, sourceLabel, type LinkKind } from "./links";

export interface Props {
  item: Import;
  /** The kind of document that its link points to. */
  kind: LinkKind | null;
  onRead: (doc: DocRef) => void;
}

const steps: readonly ImportState[] = ["looking", "downloading", "reading", "indexing"];

/** The card of an import: its steps, outcome and actions. */
export default function ImportCard({ item, kind, onRead }: Props) {
  const link = readLink(item.url);
  const Glyph = kindIcons[kind ?? "drive"];
  const title = titleOf(item, kind);
  const source = sourceLabel(item.source_type) ?? words.imports.kinds[kind ?? "drive"];
  const failed = item.state === "failed";
  return (
    <div role="group" aria-label={words.imports.label(title)} data-import-state={item.state} className="my-3 rounded-xl border border-line bg-surface px-3.5 py-3 text-sm">
      <div className="flex items-center gap-3">
        <Glyph aria-hidden className={`size-5 shrink-0 ${failed ? "text-bad" : "text-accent"}`} />
        <div className="min-w-0 flex-1">
          <p dir="auto" className="truncate font-medium">
            {title}
          </p>
          <p role="status" className="text-xs text-muted">
            {source !== title && `${source} · `}
            {stateText(item)}
          </p>
        </div>
        {item.state === "ready" && item.document_id && <Button onClick={() => onRead({ id: item.document_id!, title })}>{words.imports.open}</Button>}
        {link && <Source url={item.url} title={title} host={link.host} />}
      </div>
      {running(item) && <Steps at={steps.indexOf(item.state)} />}
      {failed && <Failure item={item} />}
    </div>
  );
}

function stateText({ state, outcome, chunks = 0 }: Import): string {
  if (state !== "ready") return words.imports.states[state];
  return outcome === "duplicate" ? words.imports.known : outcome === "updated" ? words.imports.updated(chunks) : words.imports.ready(chunks);
}

/** A link to the source. */
function Source({ url, title, host }: { url: string; title: string; host: string }) {
  const label = words.message.newTab(words.library.source(title));
  const href = /^https?:\/\//.test(url) ? url : `https://${url}`;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" aria-label={label} title={host} className="inline-flex size-9 shrink-0 items-center justify-center rounded-lg text-muted transition-colors pointer-coarse:size-11 hover:bg-sunken hover:text-ink">
      <ExternalLink aria-hidden className="size-4" />
    </a>
  );
}

function Steps({ at }: { at: number }) {
  return (
    <ol className="mt-2.5 flex flex-wrap gap-x-4 gap-y-1 border-t border-line pt-2.5 text-xs">
      {steps.map((step, i) => {
        const Glyph = i < at ? Check : i === at ? LoaderCircle : Circle;
        const look = i < at ? "text-good" : i === at ? "animate-spin text-accent motion-reduce:animate-none" : "text-muted opacity-50";
        return (
          <li key={step} aria-current={i === at ? "step" : undefined} className={`inline-flex items-center gap-1.5 ${i === at ? "font-medium" : "text-muted"}`}>
            <Glyph aria-hidden className={`size-3.5 ${look}`} />
            {words.imports.steps[step as keyof typeof words.imports.steps]}
          </li>
        );
      })}
    </ol>
  );
}

/** Shows why an import failed, with buttons to retry it, or to connect an account for a file that is not shared. */
function Failure({ item }: { item: Import }) {
  const { threadId } = use(Imports);
  const { available, account } = useGoogle();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const unset = item.code === "not_configured"; // the server has no access of its own; the user may connect an account
  const offer = (unset || item.code === "not_shared") && item.source_type === "google_drive" && available && account?.state !== "connected";
  const again = async () => {
    setBusy(true);
    setProblem("");
    await importAgain(item, threadId).catch((err: unknown) => setProblem(errorText(err)));
    setBusy(false);
  };
  return (
    <div className="mt-2.5 border-t border-line pt-2.5">
      <p role="alert" className="flex gap-2 text-bad">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        {problem || (!unset ? worded(item, item.message || words.imports.states.failed) : offer ? words.imports.connectFirst : words.imports.notSetUp)}
      </p>
      {offer && !unset && <p className="mt-1.5 text-muted">{words.imports.connectHint}</p>}
      <div className="mt-2.5 flex flex-wrap gap-2 empty:hidden">
        {(!unset || available) && ( // else another try would fail, too
          <Button disabled={busy} onClick={() => void again()}>
            {words.common.tryAgain}
          </Button>
        )}
        {offer && (
          <Button variant="primary" onClick={() => void connectGoogle()}>
            {account ? words.account.google.connectAgain : words.account.google.connect}
          </Button>
        )}
      </div>
    </div>
  );
}
