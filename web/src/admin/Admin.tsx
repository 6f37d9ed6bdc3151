import { ArrowLeft, RefreshCw } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { errorText } from "../api/query";
import { Button } from "../ui/Button";
import { adminWords } from "../words/admin";
import { SECTIONS, useSection, type AuditEntry, type FailedDocument, type Limit, type ModelUsage, type Person, type RatedTurn, type Section, type Status, type ToolServer } from "./api";
import { auditColumns, documentColumns, feedbackColumns, limitColumns, peopleColumns, toolColumns, usageColumns } from "./sections";
import { Table, type Column } from "./Table";

/** The page of administrators. The server refuses everybody else. */
export default function Admin() {
  const [section, open] = useState<Section>(() => SECTIONS.find((s) => location.hash === `#${s}`) ?? "people");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${adminWords.title} · Palaver`;
  }, []);
  const show = (next: Section) => {
    open(next);
    history.replaceState(history.state, "", `#${next}`);
    heading.current?.focus();
  };
  return (
    <div className="h-full overflow-y-auto">
      <main className="mx-auto max-w-6xl px-4 py-6 sm:px-6">
        <a href="/" className="inline-flex items-center gap-2 rounded-md text-sm text-muted hover:text-ink pointer-coarse:min-h-11">
          <ArrowLeft aria-hidden className="size-4" /> {adminWords.back}
        </a>
        <h1 className="mt-2 text-2xl font-semibold">{adminWords.title}</h1>
        <p className="mt-1 text-sm text-muted">{adminWords.audited}</p>
        <nav aria-label={adminWords.title} className="mt-4 flex flex-wrap gap-1">
          {SECTIONS.map((s) => (
            <button key={s} type="button" aria-current={s === section ? "page" : undefined} onClick={() => show(s)} className="h-9 rounded-lg px-3 text-sm font-medium text-muted pointer-coarse:h-11 hover:bg-sunken hover:text-ink aria-[current]:bg-accent-soft aria-[current]:text-ink">
              {adminWords.sections[s]}
            </button>
          ))}
        </nav>
        <div className="mt-6">
          <h2 ref={heading} tabIndex={-1} className="mb-3 text-lg font-semibold">
            {adminWords.sections[section]}
          </h2>
          <Shown key={section} section={section} />
        </div>
      </main>
    </div>
  );
}

function Shown({ section }: { section: Section }): ReactNode {
  switch (section) {
    case "people":
      return <List<Person, { anonymous?: number }> section={section} columns={peopleColumns()} id={(p) => p.id} note={(p) => (p.anonymous ? adminWords.anonymous(p.anonymous) : "")} />;
    case "usage":
      return <List<ModelUsage> section={section} columns={usageColumns()} id={(u) => `${u.day} ${u.model}`} />;
    case "limits":
      return <List<Limit> section={section} columns={limitColumns()} id={(l) => `${l.name} ${l.of}`} />;
    case "audit":
      return <List<AuditEntry> section={section} columns={auditColumns()} id={(e) => e.id} />;
    case "feedback":
      return <List<RatedTurn> section={section} columns={feedbackColumns()} id={(f) => f.turn_id} />;
    case "documents":
      return <List<FailedDocument> section={section} columns={documentColumns()} id={(d) => d.id} />;
    case "tools":
      return <List<ToolServer> section={section} columns={toolColumns()} id={(s) => s.name} />;
    case "status":
      return <Health />;
  }
}

function List<T, P = object>({ section, columns, id, note }: { section: Section; columns: Column<T>[]; id: (row: T) => string | number; note?: (first: P) => string }) {
  const read = useSection<P & { items?: T[] | null; next_cursor?: string }>(section);
  const pages = read.data?.pages ?? [];
  return (
    <Read {...read}>
      {note && pages[0] && <p className="mb-3 text-sm text-muted">{note(pages[0])}</p>}
      <Table label={adminWords.sections[section]} columns={columns} rows={pages.flatMap((p) => p.items ?? [])} id={id} />
      {read.hasNextPage && (
        <Button className="mt-3 mr-2" disabled={read.isFetchingNextPage} onClick={() => void read.fetchNextPage()}>
          {adminWords.more}
        </Button>
      )}
    </Read>
  );
}

function Health() {
  const read = useSection<Status>("status");
  const status = read.data?.pages[0];
  const down = status?.down.join(", ") ?? "";
  return (
    <Read {...read}>
      {status && (
        <>
          <p className="text-sm">{!status.ready ? adminWords.notReady(down) : down ? adminWords.someDown(down) : adminWords.ready}</p>
          <p className="mt-1 mb-3 text-sm text-muted">{adminWords.version(status.version, status.commit, status.date)}</p>
          <Table
            label={adminWords.sections.status}
            columns={[
              { name: adminWords.columns.part, show: ([part]) => part },
              { name: adminWords.columns.state, show: ([, state]) => state },
            ]}
            rows={Object.entries(status.parts).sort()}
            id={([part]) => part}
          />
        </>
      )}
    </Read>
  );
}

/** What a section shows while it is read, and when that failed. */
function Read({ isPending, error, isFetching, refetch, children }: { isPending: boolean; error: unknown; isFetching: boolean; refetch: () => unknown; children: ReactNode }) {
  if (isPending) return <p role="status" className="text-sm text-muted">{adminWords.loading}</p>;
  return (
    <>
      {error ? <p role="alert" className="mb-3 text-sm text-bad">{errorText(error)}</p> : children}
      <Button className="mt-3" icon={RefreshCw} disabled={isFetching} onClick={() => void refetch()}>
        {adminWords.refresh}
      </Button>
    </>
  );
}
