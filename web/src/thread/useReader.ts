import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type RefObject, type SyntheticEvent } from "react";

/** An element of the thread, and its distance from the top of the window, in px. */
export interface Place {
  find: () => Element | null | undefined;
  top: number;
}

/** Keeps the scroll position of the reader of a thread. */
export interface Reader {
  /** The scroll container. */
  box: RefObject<HTMLDivElement | null>;
  /** The content that grows in it. */
  list: RefObject<HTMLDivElement | null>;
  /** Whether to offer a button that scrolls to the end. */
  away: boolean;
  toEnd: () => void;
  /** Keeps an element in its place until the reader moves. */
  hold: (place: Place) => void;
  holds: (place: Place) => boolean;
  release: (place: Place) => void;
  /** Scrolls the held element, or the end, back to its place. */
  settle: () => void;
  onScroll: () => void;
  /** For the box: handlers that detect a move of the reader. */
  moves: Record<"onWheel" | "onTouchMove", () => void> & Record<"onPointerDown" | "onKeyDown", (e: SyntheticEvent) => void>;
}

const NEAR = 80;

const leftIn = (el: Element): number => el.scrollHeight - el.scrollTop - el.clientHeight;

/** Where the newest message of the user and its answer begin, in px from the top of the content. */
function beginningIn(el: Element): { question: number; answer: number } | null {
  const row = [...el.querySelectorAll('[data-role="user"]')].at(-1)?.getBoundingClientRect();
  if (!row) return null;
  const from = el.getBoundingClientRect().top - el.scrollTop;
  return { question: row.top - from, answer: row.bottom - from };
}

/** Maximum part of the view for a question whose answer is longer than the view. */
const QUESTION = 0.4;

/**
 * The scrollTop that shows the end, in px. A new answer is followed until its start
 * would leave the view; begin says where its question and it start.
 */
export function endOf(height: number, view: number, begin: { question: number; answer: number } | null): number {
  const end = Math.max(0, height - view);
  if (!begin) return end;
  return Math.min(end, Math.max(begin.question, begin.answer - QUESTION * view));
}

const MARGIN = 8; // px above a question

/** The scrollTop that shows the start of an approval that is longer than the view, and whose buttons stay in view; undefined if there is none. */
function startOfQuestion(el: Element): number | undefined {
  const question = el.querySelector<HTMLElement>("[data-question=tool_approval]");
  if (!question || question.offsetHeight + MARGIN <= el.clientHeight) return undefined;
  return question.offsetTop - MARGIN; // not from its rectangle, which moves while the question slides in
}

/**
 * Keeps the reader of a thread in place: at its end, when the thread grows or the
 * view shrinks, or at the text that they read, when the width changes. sent is the
 * id of the message that they have just sent. The view then shows that message and
 * its answer: the start of a long answer, or its end if it asks a question. Of an
 * approval that is longer than the view, the start is shown until the reader moves.
 */
export function useReader(busy: boolean, sent: string | undefined, asks: boolean): Reader {
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const lastTop = useRef(0);
  const lastHeight = useRef(0);
  const held = useRef<Place | null>(null);
  const [away, setAway] = useState(false);
  const fresh = useRef(false); // the newest answer is shown from its start
  const moved = useRef(false);
  const atQuestion = useRef(false); // the start of a long question is shown

  const scrollToEnd = useCallback(() => {
    const el = box.current;
    if (!el) return;
    const question = moved.current ? undefined : startOfQuestion(el);
    atQuestion.current = question !== undefined;
    el.scrollTop = question ?? endOf(el.scrollHeight, el.clientHeight, fresh.current ? beginningIn(el) : null);
    lastTop.current = el.scrollTop;
    lastHeight.current = el.scrollHeight;
  }, []);

  // The text being read: the element pressed last if it is in view, else the first one.
  const width = useRef(0);
  const pressed = useRef<Element | null>(null);
  const read = useRef<Place | null>(null);
  const note = useCallback(() => {
    const el = box.current;
    if (!el || held.current || el.clientWidth !== width.current) return; // a new width has already moved the text
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
    if (fresh.current && leftIn(el) > NEAR) setAway(true); // no scroll event reports it
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

  // The user must see a question to answer it.
  useLayoutEffect(() => {
    if (asks && fresh.current && atEnd.current) toEnd();
  }, [asks, toEnd]);

  // After a question that was shown from its start, the reader follows the answer.
  const asked = useRef(false);
  useLayoutEffect(() => {
    if (asks) return;
    if (asked.current) toEnd();
    asked.current = false;
  }, [asks, toEnd]);

  useLayoutEffect(() => {
    if (busy) settle();
  }, [busy, settle]);

  const onScroll = useCallback(() => {
    const el = box.current;
    if (!el) return;
    const left = leftIn(el);
    const up = el.scrollTop < lastTop.current - 1;
    const sameHeight = el.scrollHeight === lastHeight.current;
    if (left < NEAR && !(up && moved.current && left > 1 && (sameHeight || !atEnd.current))) {
      atEnd.current = true;
      if (moved.current) fresh.current = false; // a reader who scrolled to the end follows the end
    } else if (up) {
      // Without a move of the reader, rows above the view that turned out shorter have moved the text.
      if (moved.current || sameHeight) atEnd.current = false;
      else if (atEnd.current) scrollToEnd();
    } else if (fresh.current && moved.current && el.scrollTop > lastTop.current + 1) {
      atEnd.current = false; // the reader reads on in an answer whose start was shown
    }
    lastTop.current = el.scrollTop;
    lastHeight.current = el.scrollHeight;
    note();
    const rest = leftIn(el);
    setAway(rest > 2 * el.clientHeight || ((fresh.current || !atEnd.current) && rest > NEAR));
  }, [note, scrollToEnd]);

  const moves = useMemo(() => {
    const move = () => {
      held.current = null;
      moved.current = true;
      if (atQuestion.current && box.current) atEnd.current = leftIn(box.current) < NEAR;
      asked.current ||= atQuestion.current;
      atQuestion.current = false;
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
