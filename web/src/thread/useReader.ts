import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject, type SyntheticEvent } from "react";

/** Something of the conversation, and where on the page it stands. */
export interface Place {
  find: () => Element | null | undefined;
  top: number;
}

/** Where the reader of a conversation is, and what keeps them there. */
export interface Reader {
  /** What scrolls. */
  box: RefObject<HTMLDivElement | null>;
  /** What in it grows and is read. */
  list: RefObject<HTMLDivElement | null>;
  /** So far from the end that a way there is offered. */
  away: boolean;
  toEnd: () => void;
  /** Keeps something where it stands until the reader moves. */
  hold: (place: Place) => void;
  holds: (place: Place) => boolean;
  release: (place: Place) => void;
  /** Puts what is held, or the end, back to where it was. */
  settle: () => void;
  onScroll: () => void;
  /** For the box: what a reader does to move. */
  moves: Record<"onWheel" | "onTouchMove", () => void> & Record<"onPointerDown" | "onKeyDown", (e: SyntheticEvent) => void>;
}

const NEAR = 80;

const leftIn = (el: Element): number => el.scrollHeight - el.scrollTop - el.clientHeight;

/** Where the newest question and its answer begin, from the top of what scrolls. */
function beginningIn(el: Element): { question: number; answer: number } | null {
  const row = [...el.querySelectorAll('[data-role="user"]')].at(-1)?.getBoundingClientRect();
  if (!row) return null;
  const from = el.getBoundingClientRect().top - el.scrollTop;
  return { question: row.top - from, answer: row.bottom - from };
}

/** How much of the view a question may take when the answer to it is longer than the view. */
const QUESTION = 0.4;

/**
 * How far to scroll down to show the end. A new answer is followed until its
 * beginning would leave the view: begin is where its question and it begin.
 */
export function endOf(height: number, view: number, begin: { question: number; answer: number } | null): number {
  const end = Math.max(0, height - view);
  if (!begin) return end;
  return Math.min(end, Math.max(begin.question, begin.answer - QUESTION * view));
}

/**
 * Keeps the reader of a conversation where they are: at its end, which is followed
 * as it grows and as there is less room for it, or at what they read, when lines
 * wrap at another width. sent names the message that they have just sent,
 * which is shown, with the place of what will be said: of a long answer its
 * beginning, unless it ends in a question.
 */
export function useReader(busy: boolean, sent: string | undefined, asks: boolean): Reader {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const lastTop = useRef(0);
  const held = useRef<Place | null>(null);
  const [away, setAway] = useState(false);
  const fresh = useRef(false); // the newest answer is shown from its beginning
  const moved = useRef(false);

  const scrollToEnd = useCallback(() => {
    const el = box.current;
    if (!el) return;
    el.scrollTop = endOf(el.scrollHeight, el.clientHeight, fresh.current ? beginningIn(el) : null);
    lastTop.current = el.scrollTop;
  }, []);

  // What is read: what was pressed last while it is in view, else what stands first.
  const width = useRef(0);
  const pressed = useRef<Element | null>(null);
  const read = useRef<Place | null>(null);
  const note = useCallback(() => {
    const el = box.current;
    if (!el || held.current || el.clientWidth !== width.current) return; // in a new width it stands elsewhere already
    const room = el.getBoundingClientRect();
    const inView = (at: Element) => {
      const { top, bottom } = at.getBoundingClientRect();
      return bottom > room.top && top < room.bottom;
    };
    const last = pressed.current;
    const at = last?.isConnected && inView(last) ? last : document.elementFromPoint(room.left + room.width / 2, room.top + 8);
    read.current = at && list.current?.contains(at) ? { find: () => at, top: at.getBoundingClientRect().top } : null;
  }, []);

  const settle = useCallback(() => {
    const el = box.current;
    if (!el) return;
    if (width.current !== el.clientWidth && !atEnd.current) held.current ??= read.current;
    width.current = el.clientWidth;
    const place = held.current?.find();
    if (place?.isConnected) el.scrollTop += place.getBoundingClientRect().top - held.current!.top;
    else if (atEnd.current) scrollToEnd();
    note();
    if (fresh.current && leftIn(el) > NEAR) setAway(true); // no scrolling says so
  }, [scrollToEnd, note]);

  useEffect(() => {
    const watch = new ResizeObserver(settle);
    for (const el of [box.current, list.current]) if (el) watch.observe(el);
    return () => watch.disconnect();
  }, [settle]);

  const follow = useCallback(
    (fromBeginning: boolean) => {
      fresh.current = fromBeginning;
      moved.current = false;
      atEnd.current = true;
      held.current = null;
      setAway(false);
      scrollToEnd();
    },
    [scrollToEnd],
  );
  const toEnd = useCallback(() => follow(false), [follow]);

  useLayoutEffect(() => {
    if (sent) follow(true);
  }, [sent, follow]);

  // A question is to be answered, so it is shown.
  useLayoutEffect(() => {
    if (asks && fresh.current && atEnd.current) toEnd();
  }, [asks, toEnd]);

  useLayoutEffect(() => {
    if (busy) settle();
  }, [busy, settle]);

  const onScroll = useCallback(() => {
    const el = box.current;
    if (!el) return;
    const left = leftIn(el);
    if (left < NEAR) {
      atEnd.current = true;
      if (moved.current) fresh.current = false; // who has read on follows the rest
    } else if (el.scrollTop < lastTop.current - 1) atEnd.current = false;
    lastTop.current = el.scrollTop;
    note();
    setAway(left > 2 * el.clientHeight || ((fresh.current || !atEnd.current) && left > NEAR));
  }, [note]);

  const moves = useMemo(() => {
    const move = () => {
      held.current = null;
      moved.current = true;
    };
    const press = (e: SyntheticEvent) => {
      move();
      pressed.current = list.current?.contains(e.target as Node) ? (e.target as Element) : null;
      note();
    };
    return { onWheel: move, onTouchMove: move, onPointerDown: press, onKeyDown: press };
  }, [note]);

  return useMemo(
    () => ({
      box,
      list,
      away,
      toEnd,
      hold: (place: Place) => {
        atEnd.current = false;
        held.current = place;
      },
      holds: (place: Place) => held.current === place,
      release: (place: Place) => {
        if (held.current === place) held.current = null;
      },
      settle,
      onScroll,
      moves,
    }),
    [away, toEnd, settle, onScroll, moves],
  );
}
