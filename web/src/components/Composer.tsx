import { useEffect, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import type { Action } from "../api/types";
import { matching, mentionAt, type Mention, type Tag } from "../lib/mention";
import type { Draft } from "../state/useThread";
import { Icon } from "./Icon";
import { optionId, TagPicker } from "./TagPicker";

interface Props {
  library: Tag[];
  /** A new value replaces what stands in the composer. */
  preset: { text: string; tags: Tag[]; key: number } | null;
  mode: "message" | "answer" | "tags" | "closed";
  running: boolean;
  stopping: boolean;
  maxMessage: number;
  webSearch: boolean;
  onSend: (draft: Draft) => void;
  onStop: () => void;
}

const actions: { value: Action | ""; label: string }[] = [
  { value: "", label: "Auto" },
  { value: "summarize", label: "Summarize" },
  { value: "inquire", label: "Ask" },
  { value: "compare", label: "Compare" },
  { value: "audit", label: "Audit" },
];

const hints = {
  message: "Ask about your documents. Type @ to tag one.",
  answer: "Type your answer, or @ to tag a document.",
  tags: "Type @ to tag the documents to look in.",
  closed: "Please choose one of the answers above.",
};

export function Composer({ library, preset, mode, running, stopping, maxMessage, webSearch, onSend, onStop }: Props) {
  const [text, setText] = useState("");
  const [tags, setTags] = useState<Tag[]>([]);
  const [action, setAction] = useState<Action | "">("");
  const [web, setWeb] = useState(false);
  const [mention, setMention] = useState<Mention | null>(null);
  const [active, setActive] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number | null>(null);
  const list = useId();

  useEffect(() => {
    if (!preset) return;
    setText(preset.text);
    setTags(preset.tags);
    area.current?.focus();
  }, [preset]);

  useEffect(() => {
    if (mode === "answer" || mode === "tags") area.current?.focus();
  }, [mode]);

  useLayoutEffect(() => {
    const el = area.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${el.scrollHeight}px`;
    if (caret.current !== null) {
      el.setSelectionRange(caret.current, caret.current);
      caret.current = null;
    }
  }, [text]);

  const options = mention ? matching(library, mention.query) : [];
  const length = [...text.trim()].length;
  const tooLong = length > maxMessage;
  const ready = mode !== "closed" && !tooLong && (mode === "message" ? length > 0 : mode === "tags" ? tags.length > 0 : length > 0 || tags.length > 0);

  const edit = (value: string, at: number) => {
    setText(value);
    setMention(mentionAt(value, at));
    setActive(0);
  };

  const pick = (tag: Tag) => {
    if (!mention) return;
    const inserted = `@${tag.title} `;
    caret.current = mention.from + inserted.length;
    setText(text.slice(0, mention.from) + inserted + text.slice(mention.to));
    setTags((all) => (all.some((t) => t.id === tag.id) ? all : [...all, tag]));
    setMention(null);
  };

  const openPicker = () => {
    const el = area.current;
    if (!el) return;
    const at = el.selectionStart;
    const glue = at > 0 && !/\s/.test(text[at - 1]!) ? " @" : "@";
    caret.current = at + glue.length;
    el.focus();
    edit(text.slice(0, at) + glue + text.slice(at), at + glue.length);
  };

  const send = () => {
    if (!ready) return;
    const ids = (kind: Tag["kind"]) => tags.filter((t) => t.kind === kind).map((t) => t.id);
    const draft: Draft = { message: text.trim() };
    if (ids("document").length) draft.tagged_doc_ids = ids("document");
    if (ids("set").length) draft.tagged_set_ids = ids("set");
    if (action) draft.action = action;
    if (web) draft.enable_web_search = true;
    onSend(draft);
    setText("");
    setTags([]);
    setMention(null);
  };

  const onKey = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    if (mention) {
      if (e.key === "Escape") {
        e.stopPropagation();
        return setMention(null);
      }
      if ((e.key === "ArrowDown" || e.key === "ArrowUp") && options.length > 0) {
        e.preventDefault();
        return setActive((active + (e.key === "ArrowDown" ? 1 : options.length - 1)) % options.length);
      }
      const chosen = options[active];
      if ((e.key === "Enter" || e.key === "Tab") && !e.shiftKey && chosen) {
        e.preventDefault();
        return pick(chosen);
      }
    }
    if (e.key === "Enter" && !e.shiftKey) {
      e.preventDefault();
      send();
    }
  };

  return (
    <form
      aria-label="Message"
      className="relative rounded-2xl border border-edge bg-surface shadow-sm focus-within:border-accent"
      onSubmit={(e) => {
        e.preventDefault();
        send();
      }}
    >
      {mention && <TagPicker id={list} tags={options} active={active} empty={library.length === 0 ? "There are no documents yet." : "No document has this name."} onPick={pick} />}
      {tags.length > 0 && (
        <ul aria-label="Tagged documents" className="flex flex-wrap gap-1.5 px-4 pt-3">
          {tags.map((t) => (
            <li key={t.id} className="pill bg-accent-soft pr-1">
              <Icon name={t.kind === "set" ? "set" : "doc"} className="size-3.5 text-accent" />
              <span className="truncate">{t.title}</span>
              <button type="button" aria-label={`Remove tag ${t.title}`} className="rounded-full p-0.5 hover:bg-surface" onClick={() => setTags(tags.filter((x) => x !== t))}>
                <Icon name="close" className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={area}
        rows={1}
        value={text}
        disabled={mode === "closed"}
        placeholder={hints[mode]}
        aria-label={hints[mode]}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={mention !== null}
        aria-controls={mention ? list : undefined}
        aria-activedescendant={mention && options.length > 0 ? optionId(list, active) : undefined}
        className="block max-h-52 w-full resize-none overflow-y-auto bg-transparent px-4 pt-3.5 pb-1 outline-none placeholder:text-muted"
        onChange={(e) => edit(e.target.value, e.target.selectionStart)}
        onBlur={() => setMention(null)}
        onKeyDown={onKey}
      />
      <div className="flex items-center gap-1 px-2 pb-2">
        <button type="button" className="icon-button gap-1.5 px-2 text-sm" disabled={mode === "closed"} onClick={openPicker} title="Tag documents">
          <Icon name="at" /> <span className="sr-only sm:not-sr-only">Tag documents</span>
        </button>
        {mode === "message" && (
          <>
            <label className="flex items-center">
              <span className="sr-only">What to do</span>
              <select className="h-9 rounded-lg bg-surface px-1.5 text-sm text-muted hover:bg-sunken hover:text-ink" value={action} onChange={(e) => setAction(e.target.value as Action | "")}>
                {actions.map((a) => (
                  <option key={a.value} value={a.value}>
                    {a.label}
                  </option>
                ))}
              </select>
            </label>
            {webSearch && (
              <button type="button" aria-pressed={web} className={`icon-button gap-1.5 px-2 text-sm ${web ? "bg-accent-soft text-accent" : ""}`} onClick={() => setWeb(!web)} title="Search the web too">
                <Icon name="globe" /> <span className="sr-only sm:not-sr-only">Web</span>
              </button>
            )}
          </>
        )}
        <span className="ml-auto pr-1 text-xs text-bad" role="status">
          {tooLong && `${(length - maxMessage).toLocaleString("en")} characters too many`}
        </span>
        {running && (
          <button type="button" aria-label="Stop" title="Stop (Esc)" className="icon-button border border-line" disabled={stopping} onClick={onStop}>
            <Icon name="stop" />
          </button>
        )}
        {(!running || ready) && (
          <button type="submit" aria-label="Send" disabled={!ready} className="inline-flex size-9 items-center justify-center rounded-xl bg-accent text-accent-ink disabled:bg-sunken disabled:text-muted">
            <Icon name="up" />
          </button>
        )}
      </div>
    </form>
  );
}
