import { useRef } from "react";
import type { Doc } from "../api/types";
import { bytes } from "../lib/format";
import type { Library } from "../state/useLibrary";
import { Icon } from "./Icon";

const ACCEPT = ".txt,.md,.markdown,.html,.htm,.pdf";

export function DocumentsPanel({ library, maxUpload }: { library: Library; maxUpload: number }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="flex min-h-0 flex-1 flex-col px-5 pb-5">
      <button
        type="button"
        className="flex flex-col items-center gap-1 rounded-2xl border border-dashed border-edge px-4 py-5 text-center hover:border-accent hover:bg-accent-soft"
        onClick={() => input.current?.click()}
      >
        <Icon name="upload" className="size-6 text-accent" />
        <span className="font-medium">Add documents</span>
        <span className="text-sm text-muted">Choose or drop text, Markdown, HTML or PDF, up to {maxUpload >> 20} MB</span>
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={ACCEPT}
        aria-label="Add documents"
        onChange={(e) => {
          const files = [...(e.target.files ?? [])];
          e.target.value = "";
          if (files.length > 0) void library.upload(files);
        }}
      />
      <div role="status">
        {library.problems.map((p, i) => (
          <p key={i} className="mt-3 rounded-lg bg-bad-soft px-3 py-2 text-sm text-bad">
            {p}
          </p>
        ))}
        {library.uploading.map((name, i) => (
          <p key={i} className="mt-3 text-sm text-muted">
            Sending {name}...
          </p>
        ))}
      </div>
      {library.loaded && library.docs.length === 0 && <p className="mt-4 text-sm text-muted">There are no documents yet.</p>}
      <ul aria-label="Documents" className="mt-3 min-h-0 flex-1 divide-y divide-line overflow-y-auto">
        {library.docs.map((d) => (
          <DocRow key={d.id} doc={d} onDelete={() => confirm(`Delete "${d.title}"? Answers that cite it keep their quotes.`) && void library.remove(d)} />
        ))}
      </ul>
    </div>
  );
}

function DocRow({ doc, onDelete }: { doc: Doc; onDelete: () => void }) {
  return (
    <li className="flex items-center gap-3 py-2.5" data-status={doc.status}>
      <Icon name="doc" className={`size-5 ${doc.status === "failed" ? "text-bad" : "text-accent"}`} />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium" title={doc.title}>
          {doc.title}
        </p>
        {doc.status === "failed" ? (
          <p className="text-xs text-bad">{doc.error || "This document could not be read."}</p>
        ) : (
          <p className="text-xs text-muted">
            {doc.status === "processing" ? "Processing..." : "Ready"} · {doc.source_type} · {bytes(doc.bytes)}
            {doc.public && " · sample, shared by everyone"}
          </p>
        )}
        {doc.status === "processing" && (
          <progress className="bar mt-1.5 h-1 w-full" max={100} value={doc.progress} aria-label={`Processing ${doc.title}`} />
        )}
      </div>
      {!doc.public && (
        <button type="button" className="icon-button" aria-label={`Delete ${doc.title}`} onClick={onDelete}>
          <Icon name="trash" className="size-4" />
        </button>
      )}
    </li>
  );
}
