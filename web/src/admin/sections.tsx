import type { ReactNode } from "react";
import { bytes, cost } from "../lib/format";
import { adminWords } from "../words/admin";
import { dateTime, fullDay, number } from "../words/intl";
import { worded } from "../words/wire";
import type { AuditEntry, FailedDocument, Limit, ModelUsage, Person, RatedTurn, ToolServer } from "./api";
import type { Column } from "./Table";

const time = (at: string): ReactNode => <span className="whitespace-nowrap">{dateTime(new Date(at))}</span>;
/** An id that nobody reads whole. The table is wider instead of its rows taller. */
const Id = ({ children }: { children: string | undefined }) => <span className="block w-max max-w-96 font-mono text-xs break-all text-muted">{children}</span>;

export function peopleColumns(): Column<Person>[] {
  const c = adminWords.columns;
  return [
    { name: c.person, show: (p) => <>{p.known_as && <span className="block">{p.known_as}</span>}<Id>{p.id}</Id></> },
    { name: c.lastUsed, show: (p) => fullDay(new Date(p.last_used)) },
    { name: c.conversations, numeric: true, show: (p) => number(p.conversations) },
    { name: c.documents, numeric: true, show: (p) => number(p.documents) },
    { name: c.stored, numeric: true, show: (p) => bytes(p.storage_bytes) },
    { name: c.tokensToday, numeric: true, show: (p) => number(p.tokens_today) },
    { name: c.costToday, numeric: true, show: (p) => cost(p.cost_usd_today) },
  ];
}

export function usageColumns(): Column<ModelUsage>[] {
  const c = adminWords.columns;
  return [
    { name: c.day, show: (u) => fullDay(new Date(`${u.day}T12:00:00`)) },
    { name: c.model, show: (u) => u.model },
    { name: c.calls, numeric: true, show: (u) => number(u.calls) },
    { name: c.tokensIn, numeric: true, show: (u) => number(u.tokens_in) },
    { name: c.tokensOut, numeric: true, show: (u) => number(u.tokens_out) },
    { name: c.cost, numeric: true, show: (u) => <>{cost(u.cost_usd)}{u.unpriced_calls ? <span className="block text-xs text-muted">{adminWords.unpriced(u.unpriced_calls)}</span> : null}</> },
  ];
}

function limitOf({ name, limit, seconds }: Limit): string {
  const shown = name === "storage_bytes" ? bytes(limit) : name === "daily_cost_usd" ? cost(limit) : number(limit);
  return seconds ? adminWords.within(shown, number(seconds)) : shown;
}

export function limitColumns(): Column<Limit>[] {
  const c = adminWords.columns;
  return [
    { name: c.limit, show: (l) => adminWords.limits[l.name] ?? l.name },
    { name: c.of, show: (l) => adminWords.scopes[l.of] ?? l.of },
    { name: c.value, numeric: true, show: limitOf },
  ];
}

export function auditColumns(): Column<AuditEntry>[] {
  const c = adminWords.columns;
  return [
    { name: c.time, show: (e) => time(e.at) },
    { name: c.kind, show: (e) => <code className="text-xs">{e.kind}</code> },
    { name: c.owner, show: (e) => <Id>{e.owner}</Id> },
    { name: c.channel, show: (e) => e.channel },
    { name: c.address, show: (e) => e.address },
    { name: c.times, numeric: true, show: (e) => number(e.times) },
    { name: c.detail, show: (e) => <Detail text={JSON.stringify(e.detail ?? {})} /> },
  ];
}

const SHORT = 200; // characters of a detail that is shown at once

function Detail({ text }: { text: string }): ReactNode {
  if (text.length <= SHORT) return <Id>{text}</Id>;
  return (
    <details>
      <summary className="w-max max-w-96 cursor-pointer truncate font-mono text-xs text-muted">{text.slice(0, SHORT)}</summary>
      <Id>{text}</Id>
    </details>
  );
}

function Turn({ question, answer, shared }: RatedTurn): ReactNode {
  if (!shared) return <span className="text-muted">{adminWords.notShared}</span>;
  return (
    <details>
      <summary className="cursor-pointer">{adminWords.columns.turn}</summary>
      <p className="mt-2 text-xs text-muted">{adminWords.question}</p>
      <p dir="auto" className="whitespace-pre-wrap">{question}</p>
      <p className="mt-2 text-xs text-muted">{adminWords.answer}</p>
      <p dir="auto" className="whitespace-pre-wrap">{answer}</p>
    </details>
  );
}

export function feedbackColumns(): Column<RatedTurn>[] {
  const c = adminWords.columns;
  return [
    { name: c.time, show: (f) => time(f.updated_at) },
    { name: c.rating, show: (f) => (f.rating === "up" ? adminWords.good : adminWords.bad) },
    { name: c.reason, show: (f) => f.reason },
    { name: c.turn, show: Turn },
    { name: c.owner, show: (f) => <Id>{f.owner}</Id> },
  ];
}

export function documentColumns(): Column<FailedDocument>[] {
  const c = adminWords.columns;
  return [
    { name: c.time, show: (d) => time(d.created_at) },
    { name: c.reason, show: (d) => worded(d, d.reason) },
    { name: c.format, show: (d) => d.format },
    { name: c.size, numeric: true, show: (d) => bytes(d.bytes) },
    { name: c.owner, show: (d) => <Id>{d.owner}</Id> },
  ];
}

export function toolColumns(): Column<ToolServer>[] {
  const c = adminWords.columns;
  const note = (n: NonNullable<ToolServer["notes"]>[number]) => [n.tool, n.problem, n.left_out && adminWords.leftOut].filter(Boolean).join(" · ");
  return [
    { name: c.server, show: (s) => s.name },
    { name: c.state, show: (s) => s.state },
    { name: c.tools, numeric: true, show: (s) => number(s.tools) },
    { name: c.notUsed, show: (s) => <ul>{s.notes?.map((n) => <li key={note(n)}>{note(n)}</li>)}</ul> },
  ];
}
