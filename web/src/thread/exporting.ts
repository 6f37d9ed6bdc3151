import { outsideCode } from "../lib/code";
import { words } from "../words";
import { dateTime } from "../words/intl";
import { markRemovedQuotes, question, withoutOffline } from "../words/wire";
import * as api from "./api";
import { answerText, citationsOf, shown, isWithdrawn, unverifiedOf, withSources } from "./parts";
import type { Message } from "./types";

/** Reads all messages of a thread, along the branch that ends at head; undefined means the newest. */
export async function readAll(thread: string, signal: AbortSignal, head: string | undefined): Promise<Message[]> {
  const messages: Message[] = [];
  for (let before: string | undefined; ; ) {
    const got = await api.readMessages(thread, head, before, signal);
    messages.unshift(...got.messages);
    before = got.messages[0]?.id;
    if (!got.more || !before) return messages.filter((m) => !isWithdrawn(m));
  }
}

/** A message as Markdown: its text, its questions with their answers, and its citations. */
export function bodyOf(m: Message): string {
  const pieces = shown(m).flatMap((p) => {
    if (p.type === "text") return p.text.trim() ? [p.text.trim()] : [];
    if (p.type === "data-interrupt") return [[question(p.data), answerText(p.data)].filter(Boolean).flatMap((s) => s.split("\n")).map((line) => `> ${line}`).join("\n")];
    return [];
  });
  return withSources(withoutOffline(markRemovedQuotes(pieces.join("\n\n"))), citationsOf(m), unverifiedOf(m));
}

/** Puts an answer's headings below those of the file, except in code. */
function lowered(body: string): string {
  let fence = "";
  return body
    .split("\n")
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (mark && (fence === "" || (mark[0] === fence[0] && mark.length >= fence.length))) fence = fence === "" ? mark : "";
      return fence === "" ? line.replace(/^(#{1,6})(?= )/, (marks) => "#".repeat(Math.min(6, marks.length + 2))) : line;
    })
    .join("\n");
}

/** A thread as a Markdown file. Each answer has its own footnote labels. */
export function markdownOf(title: string, messages: readonly Message[]): string {
  const parts = [`# ${title.replace(/\s+/g, " ")}`];
  let answers = 0;
  for (const m of messages) {
    const body = bodyOf(m);
    if (!body) continue;
    const at = new Date(m.metadata?.created_at ?? "");
    const who = m.role === "user" ? words.message.you : "Palaver";
    if (m.role !== "user") answers++;
    parts.push(`## ${who}${Number.isNaN(at.getTime()) ? "" : `, ${dateTime(at)}`}`, m.role === "user" ? body : outsideCode(lowered(body), (s) => s.replace(/\[\^([\w-]+)\]/g, `[^${answers}-$1]`)));
  }
  return `${parts.join("\n\n")}\n`;
}

/** Downloads a text as a Markdown file. */
export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown;charset=utf-8" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser reads it after the click
}

export const fileName = (title: string): string => `${[...title.replace(/[\\/:*?"<>|\p{C}]+/gu, " ").replace(/\s+/g, " ").trim()].slice(0, 80).join("").replace(/[. ]+$/, "") || "Palaver"}.md`;
