import { useCallback, useDeferredValue, useEffect, useMemo, useState, type RefObject } from "react";
import type { VirtualizerHandle } from "virtua";
import { backToMessage } from "../composer/focus";
import { mac } from "../lib/keys";
import { layerIsOpen } from "../ui/layer";
import { onFind } from "./findBus";
import { hitsIn, placeOf, rangesIn, reveal, type Hit } from "./finding";
import type { ThreadStore, View } from "./store";
import type { Message } from "./types";
import type { Place, Reader } from "./useReader";

export type Find = ReturnType<typeof useFind>;

const ALL = "find";
const CURRENT = "find-current";

/** Whether a key press asks to find words: Ctrl+F or Command+F. Pressed again in the bar, it opens the browser's own search. */
const asks = (e: KeyboardEvent): boolean => (mac ? e.metaKey : e.ctrlKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "f" && !(e.target instanceof Element && e.target.closest("search"));

const rowOf = (box: Element | null, id: string) => box?.querySelector(`[data-message="${CSS.escape(id)}"]`);

/** Finds words in a conversation, also in messages that are not rendered or not loaded yet. enabled: it listens to the shortcut. */
export function useFind(enabled: boolean, store: ThreadStore, view: View, messages: readonly Message[], reader: Reader, rows: RefObject<VirtualizerHandle | null>) {
  const [opened, setOpened] = useState(0); // how often; 0 means that it is closed
  const [search, setSearch] = useState("");
  const [hit, setHit] = useState<Hit | undefined>();
  const isOpen = opened > 0;
  const sought = useDeferredValue(isOpen ? search : "");
  const hits = useMemo(() => hitsIn(messages, sought), [messages, sought]);
  const at = placeOf(hits, hit);
  const current = hits[at];
  const { box, list } = reader;

  useEffect(() => {
    if (!enabled) return;
    const open = () => setOpened((n) => n + 1);
    const onKey = (e: KeyboardEvent) => {
      if (e.defaultPrevented || layerIsOpen() || !asks(e)) return;
      e.preventDefault();
      open();
    };
    window.addEventListener("keydown", onKey);
    const end = onFind(open);
    return () => {
      window.removeEventListener("keydown", onKey);
      end();
    };
  }, [enabled]);

  // Older messages are loaded while words are searched.
  const loading = sought.trim() !== "" && view.more && !view.moreProblem;
  useEffect(() => {
    if (loading && !view.loadingMore) void store.loadMore();
  }, [loading, view.loadingMore, store]);

  // The current hit is scrolled into view.
  const { hold, release } = reader;
  const index = current ? messages.findIndex((m) => m.id === current.id) : -1;
  const key = current && `${current.id} ${current.nth} ${sought}`;
  useEffect(() => {
    if (!current || index < 0) return;
    const place: Place = { find: () => rowOf(box.current, current.id), top: 0 };
    let frames = 12; // rows are measured when they are rendered, which moves them
    let frame = 0;
    const look = () => {
      const el = box.current;
      const row = place.find();
      if (!el || !row) return;
      const ranges = rangesIn(row, sought);
      const range = ranges[Math.min(current.nth, ranges.length - 1)];
      if (range) reveal(range);
      const rect = (range ?? row).getBoundingClientRect();
      const room = el.getBoundingClientRect();
      const wanted = room.top + room.height / 3;
      if (rect.top < room.top + 60 || rect.bottom > room.bottom - 20) el.scrollTop += rect.top - wanted;
      place.top = row.getBoundingClientRect().top;
      hold(place);
      if (frames-- > 0) frame = requestAnimationFrame(look);
    };
    rows.current?.scrollToIndex(index, { align: "nearest" });
    frame = requestAnimationFrame(look);
    return () => {
      cancelAnimationFrame(frame);
      release(place);
    };
  }, [key, index >= 0]); // only another hit scrolls

  // All hits on the page are marked.
  useEffect(() => {
    const marks = CSS.highlights;
    if (!marks || sought.trim() === "" || !list.current) return;
    let frame = 0;
    const mark = () => {
      frame = 0;
      const all = new Highlight();
      const now = new Highlight();
      for (const row of list.current?.querySelectorAll("[data-message]") ?? []) {
        rangesIn(row, sought).forEach((range, i, { length }) => (row.getAttribute("data-message") === current?.id && i === Math.min(current.nth, length - 1) ? now : all).add(range));
      }
      now.priority = 1;
      marks.set(ALL, all);
      marks.set(CURRENT, now);
    };
    const soon = () => (frame ||= requestAnimationFrame(mark));
    const watch = new MutationObserver(soon);
    watch.observe(list.current, { childList: true, subtree: true, characterData: true });
    soon();
    return () => {
      watch.disconnect();
      cancelAnimationFrame(frame);
      marks.delete(ALL);
      marks.delete(CURRENT);
    };
  }, [sought, current?.id, current?.nth, list]);

  const go = (by: number) => hits.length > 0 && setHit(hits[(at + by + hits.length) % hits.length]);
  const close = useCallback(() => {
    setOpened(0);
    setHit(undefined);
    backToMessage();
  }, []);
  const change = (value: string) => {
    setSearch(value);
    setHit(undefined);
  };
  return { isOpen, opened, search, setSearch: change, count: hits.length, at, index, go, close, loading };
}
