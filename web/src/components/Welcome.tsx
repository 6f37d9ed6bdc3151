import type { Doc } from "../api/types";
import { mostAlike } from "../lib/alike";
import type { Tag } from "../lib/mention";
import { Icon, type IconName } from "./Icon";

interface Props {
  docs: Doc[];
  loaded: boolean;
  onAdd: () => void;
  onStart: (text: string, tags: Tag[]) => void;
}

interface Suggestion {
  icon: IconName;
  text: string;
  tags: Tag[];
}

const tag = (d: Doc): Tag => ({ kind: "document", id: d.id, title: d.title });

function suggestions(docs: Doc[]): Suggestion[] {
  const out: Suggestion[] = [];
  if (docs[0]) out.push({ icon: "doc", text: `Summarize @${docs[0].title}`, tags: [tag(docs[0])] });
  const pair = mostAlike(docs, (d) => d.title);
  if (pair) {
    const [a, b] = pair;
    out.push({ icon: "docs", text: `Compare @${a.title} and @${b.title}`, tags: [tag(a), tag(b)] });
  }
  return out;
}

export function Welcome({ docs, loaded, onAdd, onStart }: Props) {
  const ready = docs.filter((d) => d.status === "ready");
  const ownFirst = [...ready.filter((d) => !d.public), ...ready.filter((d) => d.public)];
  return (
    <div className="my-auto py-8">
      <h1 className="text-2xl font-semibold tracking-tight text-balance sm:text-3xl">Ask your documents</h1>
      <p className="mt-2 max-w-prose text-muted">
        Add a document, ask in plain words, and read an answer whose every claim opens at the passage it comes from.
      </p>
      <ul className="mt-6 grid gap-2 sm:grid-cols-2" aria-label="Ways to begin">
        <li>
          <Idea icon="upload" text={loaded && docs.length === 0 ? "Add your first document" : "Add a document"} onClick={onAdd} />
        </li>
        {suggestions(ownFirst).map((i) => (
          <li key={i.text}>
            <Idea icon={i.icon} text={i.text} onClick={() => onStart(i.text, i.tags)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Idea({ icon, text, onClick }: { icon: IconName; text: string; onClick: () => void }) {
  return (
    <button type="button" onClick={onClick} className="flex h-full w-full items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3 text-left text-sm hover:border-accent hover:bg-accent-soft">
      <Icon name={icon} className="size-5 text-accent" />
      <span className="line-clamp-2 min-w-0">{text}</span>
    </button>
  );
}
