import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { errorText } from "../api/query";
import { readAll } from "../thread/exporting";
import Markdown from "../thread/Markdown";
import { answerText, citationsOf, picturesOf, shown, sourceLine, unverifiedOf } from "../thread/parts";
import { Pictures } from "../thread/Pictures";
import type { Message } from "../thread/types";
import { Button } from "../ui/Button";
import { usePrinted } from "../ui/usePrinted";
import { words } from "../words";
import { question } from "../words/wire";
import { oneConversation } from "./conversations";
import { useLight } from "./theme";

const nothing = () => {};

/** A whole thread as a page to print or to save as PDF, with its citations. */
export default function PrintPage({ threadId }: { threadId: string }) {
  const conversation = useQuery(oneConversation(threadId));
  const { data: messages, error } = useQuery({ queryKey: ["print", threadId], queryFn: ({ signal }) => readAll(threadId, signal, new URLSearchParams(location.search).get("head") ?? undefined), gcTime: 0 });
  const title = conversation.data?.title ?? "";
  usePrinted();
  useLight();
  useEffect(() => {
    if (title) document.title = `${title} · Palaver`;
  }, [title]);
  if (error) return <p role="alert" className="m-auto p-6 text-muted">{words.thread.openFailed(errorText(error))}</p>;
  if (!messages || conversation.isPending) return <p role="status" className="m-auto p-6 text-muted">{words.thread.opening}</p>;
  return (
    <main className="h-full overflow-y-auto print:h-auto print:overflow-visible">
      <div className="mx-auto max-w-3xl px-6 py-8 print:max-w-none print:p-0">
        <div className="mb-6 flex items-start gap-4">
          <h1 dir="auto" className="min-w-0 flex-1 text-2xl font-semibold">
            {title}
          </h1>
          <Button variant="primary" className="print:hidden" onClick={() => window.print()}>
            {words.shell.print}
          </Button>
        </div>
        {messages.map((m) => (
          <PrintedMessage key={`${m.role}-${m.id}`} message={m} />
        ))}
      </div>
    </main>
  );
}

function PrintedMessage({ message: m }: { message: Message }) {
  const mine = m.role === "user";
  const citations = citationsOf(m);
  const unverified = unverifiedOf(m);
  return (
    <section className="mb-5 break-inside-auto">
      <h2 className="mb-1 text-xs font-semibold text-muted">{mine ? words.message.you : "Palaver"}</h2>
      {shown(m).map((p, i) => {
        if (p.type === "text" && mine) return <p key={i} dir="auto" className="whitespace-pre-wrap">{p.text}</p>;
        if (p.type === "text") return <Markdown key={i} text={p.text} citations={citations} unverified={unverified} onCite={nothing} />;
        if (p.type !== "data-interrupt") return null;
        return (
          <p key={i} dir="auto" className="my-2 border-s-2 border-line ps-3 text-sm">
            {question(p.data)} <strong>{answerText(p.data)}</strong>
          </p>
        );
      })}
      <Pictures pictures={picturesOf(m)} alt={words.message.generatedImage} className="mt-3 gap-3" size="max-h-96 max-w-full" />
      {citations.length > 0 && (
        <ol className="mt-2 space-y-0.5 text-xs text-muted">
          {citations.map((c) => (
            <li key={c.n} dir="auto">
              [{c.n}] {sourceLine(c)}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
