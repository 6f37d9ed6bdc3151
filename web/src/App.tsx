import { useCallback, useEffect, useMemo, useState } from "react";
import type { Citation, Conversation, ResumeValue } from "./api/types";
import { Composer } from "./components/Composer";
import { Conversations } from "./components/Conversations";
import { DocumentsPanel } from "./components/DocumentsPanel";
import { DropZone } from "./components/DropZone";
import { Icon } from "./components/Icon";
import { PalAssist } from "./components/PalAssist";
import { PassagePanel } from "./components/PassagePanel";
import { Problem } from "./components/Problem";
import { Sheet } from "./components/Sheet";
import { ThreadView } from "./components/ThreadView";
import { Welcome } from "./components/Welcome";
import type { Tag } from "./lib/mention";
import { useConfig } from "./state/useConfig";
import { useConversations } from "./state/useConversations";
import { useLibrary } from "./state/useLibrary";
import { useMedia } from "./state/useMedia";
import { useRoute } from "./state/useRoute";
import { useThread, type Draft } from "./state/useThread";

type Panel = { kind: "documents" } | { kind: "passage"; citation: Citation } | null;

export function App() {
  const [route, go] = useRoute();
  const config = useConfig();
  const library = useLibrary(config.maxUpload);
  const conversations = useConversations();
  const { thread, send, answer, stop, retry, dismiss } = useThread(route, go);
  const [panel, setPanel] = useState<Panel>(null);
  const [drawer, setDrawer] = useState(false);
  const [preset, setPreset] = useState<{ text: string; tags: Tag[]; key: number } | null>(null);
  const [taggingFor, setTaggingFor] = useState("");
  const roomy = useMedia("(min-width: 768px)");

  const { interrupt, live } = thread;
  const running = live !== null && interrupt === null;
  const tagging = interrupt !== null && taggingFor === interrupt.interrupt_id;
  const asks = interrupt?.interrupt_type;
  const mode = !interrupt ? "message" : tagging ? "tags" : asks === "text_input" ? "answer" : "closed";

  const tags = useMemo<Tag[]>(
    () => [
      ...library.docs.filter((d) => d.status !== "failed").map((d): Tag => ({ kind: "document", id: d.id, title: d.title })),
      ...library.sets.map((s): Tag => ({ kind: "set", id: s.id, title: s.name })),
    ],
    [library.docs, library.sets],
  );

  // A turn that begins, pauses or ends changes the list: its title, order and state.
  const { refresh } = conversations;
  useEffect(() => {
    if (thread.id) void refresh();
  }, [thread.id, running, live?.turnId, interrupt?.interrupt_id, refresh]);

  useEffect(() => {
    if (!running) return;
    const onKey = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !document.querySelector("dialog[open]")) stop();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [running, stop]);

  const onSend = (draft: Draft) => {
    if (!interrupt) return send(draft);
    const value: ResumeValue = {
      type: interrupt.interrupt_type,
      value: tagging ? "tag_docs" : draft.message || null,
      ...(draft.tagged_doc_ids && { tagged_doc_ids: draft.tagged_doc_ids }),
      ...(draft.tagged_set_ids && { tagged_set_ids: draft.tagged_set_ids }),
    };
    answer(value, draft.message);
  };

  const onCite = useCallback((citation: Citation) => setPanel({ kind: "passage", citation }), []);
  const { upload } = library;
  const onFiles = useCallback(
    (files: File[]) => {
      setPanel({ kind: "documents" });
      void upload(files);
    },
    [upload],
  );

  const open = (id: string | null) => {
    setDrawer(false);
    setPanel((p) => (p?.kind === "passage" ? null : p));
    go(id);
  };

  const onDelete = (c: Conversation) => {
    if (!confirm(`Delete the conversation "${c.title || "New conversation"}"?`)) return;
    void conversations.remove(c.id);
    if (c.id === route) open(null);
  };

  const list = <Conversations items={conversations.items} problem={conversations.problem} current={route} onOpen={open} onDelete={onDelete} />;

  return (
    <div className="flex h-full">
      <DropZone onFiles={onFiles} />
      {roomy && (
        <div className="flex h-full w-68 shrink-0 flex-col border-r border-line bg-sunken/60">
          <Brand />
          {list}
        </div>
      )}
      {!roomy && drawer && (
        <Sheet title="Conversations" side="left" onClose={() => setDrawer(false)}>
          {list}
        </Sheet>
      )}
      <main className="flex h-full min-w-0 flex-1 flex-col">
        <header className="flex items-center gap-2 px-4 py-2.5">
          {!roomy && (
            <>
              <button type="button" className="icon-button -ml-2" aria-label="Conversations" onClick={() => setDrawer(true)}>
                <Icon name="menu" />
              </button>
              <span className="shrink-0 font-semibold">Palaver</span>
            </>
          )}
          {config.offline ? <OfflineLine /> : config.modelLabel && <p className="truncate text-sm text-muted">{config.modelLabel}</p>}
          <button
            type="button"
            aria-expanded={panel?.kind === "documents"}
            className="ml-auto inline-flex shrink-0 items-center gap-2 rounded-xl border border-line bg-surface px-3 py-1.5 text-sm font-medium hover:border-edge"
            onClick={() => setPanel(panel?.kind === "documents" ? null : { kind: "documents" })}
          >
            <Icon name="docs" className="size-4 text-accent" /> <span className="sr-only min-[26rem]:not-sr-only">Documents</span>
            {library.docs.length > 0 && <span className="text-muted">{library.docs.length}</span>}
          </button>
        </header>
        <ThreadView
          thread={thread}
          onCite={onCite}
          welcome={
            <Welcome
              docs={library.docs}
              loaded={library.loaded}
              onAdd={() => setPanel({ kind: "documents" })}
              onStart={(text, chosen) => setPreset({ text, tags: chosen, key: Date.now() })}
            />
          }
        />
        {thread.load !== "missing" && (
          <div className="mx-auto w-full max-w-3xl px-4 pb-4 sm:px-6">
            {thread.problem && <Problem problem={thread.problem} onRetry={retry} onDismiss={dismiss} />}
            {interrupt && <PalAssist key={interrupt.interrupt_id} interrupt={interrupt} tagging={tagging} onAnswer={answer} onTag={() => setTaggingFor(interrupt.interrupt_id)} />}
            <Composer
              library={tags}
              preset={preset}
              mode={mode}
              running={running}
              stopping={live?.stopping ?? false}
              maxMessage={config.maxMessage}
              webSearch={config.webSearch}
              onSend={onSend}
              onStop={stop}
            />
          </div>
        )}
      </main>
      {panel?.kind === "documents" && (
        <Sheet title="Documents" side="right" onClose={() => setPanel(null)}>
          <DocumentsPanel library={library} maxUpload={config.maxUpload} />
        </Sheet>
      )}
      {panel?.kind === "passage" && (
        <Sheet title={panel.citation.title} side="right" onClose={() => setPanel(null)}>
          <PassagePanel citation={panel.citation} />
        </Sheet>
      )}
    </div>
  );
}

function Brand() {
  return (
    <p className="flex items-center gap-2.5 px-5 pt-4 pb-4 text-lg font-semibold tracking-tight">
      <img src="/favicon.svg" alt="" width="26" height="26" /> Palaver
    </p>
  );
}

function OfflineLine() {
  return (
    <details className="relative min-w-0 text-sm text-muted">
      <summary className="cursor-pointer list-none truncate rounded-md hover:text-ink">
        Offline engine<span className="hidden sm:inline">: no model configured</span>
      </summary>
      <p className="absolute top-full left-0 z-20 mt-2 w-[min(22rem,80vw)] rounded-xl border border-line bg-surface p-4 text-ink shadow-lg">
        Answers are made of sentences quoted from your documents. To have a language model write them, set OPENAI_API_KEY, GEMINI_API_KEY, ANTHROPIC_API_KEY or LLM_BASE_URL and start Palaver
        again.
      </p>
    </details>
  );
}
