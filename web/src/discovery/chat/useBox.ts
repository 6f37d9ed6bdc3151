import { useEffect, useState, type KeyboardEvent, type PointerEvent } from "react";
import { local } from "../../lib/storage";
import { clamp, moved, readBox, resized, startBox, stepOf, type Box, type Size } from "./place";

const KEY = "palaver.discovery.chat";

const viewport = (): Size => ({ width: innerWidth, height: innerHeight });

/** The position of the chat panel, stored for the next visit, and the handlers that move and resize it with pointer and keyboard. */
export function useBox() {
  const [kept, setKept] = useState<Box | null>(() => readBox(local.readJSON(KEY)));
  const [view, setView] = useState(viewport);
  useEffect(() => {
    const measure = () => setView(viewport());
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  }, []);
  const box = kept ? clamp(kept, view) : startBox(view);

  const put = (next: Box) => {
    setKept(next);
    local.write(KEY, JSON.stringify(next));
  };

  const handle = (change: typeof moved) => ({
    onPointerDown: (e: PointerEvent<HTMLElement>) => {
      if (e.button !== 0 || (e.target as Element).closest("[data-fixed]")) return;
      const from = { x: e.clientX, y: e.clientY };
      const el = e.currentTarget;
      el.setPointerCapture(e.pointerId);
      const onMove = (m: globalThis.PointerEvent) => put(change(box, m.clientX - from.x, m.clientY - from.y, viewport()));
      const onEnd = () => {
        el.removeEventListener("pointermove", onMove);
        el.removeEventListener("pointerup", onEnd);
        el.removeEventListener("pointercancel", onEnd);
      };
      el.addEventListener("pointermove", onMove);
      el.addEventListener("pointerup", onEnd);
      el.addEventListener("pointercancel", onEnd);
    },
  });
  const keys = (change: typeof moved) => ({
    onKeyDown: (e: KeyboardEvent) => {
      const step = stepOf(e.key, e.shiftKey);
      if (!step) return;
      e.preventDefault();
      put(change(box, ...step, viewport()));
    },
  });
  return { box, move: handle(moved), moveKeys: keys(moved), resize: { ...handle(resized), ...keys(resized) } };
}
