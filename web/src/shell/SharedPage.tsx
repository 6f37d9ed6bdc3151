import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { ApiError } from "../api/http";
import { errorText } from "../api/query";
import Markdown from "../thread/Markdown";
import { sourceLine } from "../thread/parts";
import { usePrinted } from "../ui/usePrinted";
import { words } from "../words";
import { fullDay } from "../words/intl";
import { readShared, type Shared } from "./shares";

const nothing = () => {};

/** The read-only copy of a conversation behind a shared link. It needs no sign-in and sends no other requests. */
export default function SharedPage({ token }: { token: string }) {
  const { data, error } = useQuery({ queryKey: ["shared", token], queryFn: ({ signal }) => readShared(token, signal), staleTime: Infinity });
  const title = data?.title || words.shell.newChat;
  usePrinted();
  useEffect(() => {
    if (data) document.title = `${title} · Palaver`;
  }, [data, title]);
  if (error)
    return (
      <main className="flex h-full flex-col items-center justify-center p-6 text-center">
        <h1 role="alert" className="max-w-md text-balance text-muted">
          {error instanceof ApiError && error.status === 404 ? words.share.notFound : errorText(error)}
        </h1>
        <a href="/" className="mt-4 font-medium text-accent underline">
          {words.share.own}
        </a>
      </main>
    );
  if (!data) return <p role="status" className="p-6 text-center text-muted">{words.share.opening}</p>;
  return (
    <div className="h-full overflow-y-auto print:h-auto print:overflow-visible">
      <header className="border-b border-line print:hidden">
        <div className="mx-auto flex h-14 max-w-3xl items-center gap-4 px-4 sm:px-6">
          <span className="flex flex-1 items-center gap-2.5 font-semibold tracking-tight">
            <img src="/favicon.svg" alt="" width="24" height="24" /> Palaver
          </span>
          <a href="/" className="inline-flex h-9 items-center rounded-lg border border-line px-3.5 text-sm font-medium pointer-coarse:h-11 hover:border-edge hover:bg-sunken">
            {words.share.own}
          </a>
        </div>
      </header>
      <main className="mx-auto max-w-3xl px-4 py-8 sm:px-6">
        <h1 dir="auto" className="text-2xl font-semibold break-words">
          {title}
        </h1>
        <p className="mt-1.5 mb-8 text-sm text-muted">
          {words.share.copyOf(fullDay(new Date(data.created_at)))} · {words.share.checked}
        </p>
        {data.messages.map((m, i) => (
          <SharedMessage key={i} message={m} />
        ))}
      </main>
    </div>
  );
}

function SharedMessage({ message: m }: { message: Shared["messages"][number] }) {
  if (m.role === "user") {
    return (
      <article aria-label={words.message.you} className="mb-6 flex justify-end">
        <p dir="auto" className="max-w-[85%] rounded-2xl bg-sunken px-4 py-2.5 break-words whitespace-pre-wrap">
          {m.text}
        </p>
      </article>
    );
  }
  const citations = m.citations ?? [];
  return (
    <article aria-label="Palaver" className="mb-8">
      <Markdown text={m.text} citations={citations} unverified={m.unverified} onCite={nothing} />
      {citations.length > 0 && (
        <details className="mt-3 text-sm text-muted">
          <summary className="w-fit cursor-pointer rounded-md py-1 pointer-coarse:py-3">
            {words.message.sources}: {words.message.quotes(citations.length)}
          </summary>
          <ol className="mt-1 space-y-1.5">
            {citations.map((c) => (
              <li key={c.n} dir="auto" className="border-s-2 border-line ps-3 break-words">
                [{c.n}] {sourceLine(c)}
              </li>
            ))}
          </ol>
        </details>
      )}
    </article>
  );
}
