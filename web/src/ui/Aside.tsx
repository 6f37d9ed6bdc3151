import { X } from "lucide-react";
import { createContext, use, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { backToMessage } from "../composer/focus";
import { local } from "../lib/storage";
import { words } from "../words";
import { IconButton } from "./Button";
import { composing } from "./composing";
import { Drawer } from "./Dialog";
import { useMedia } from "./useMedia";

interface AsideState {
  /** The name of the open panel; null if none is open. */
  open: string | null;
  show(name: string): void;
  close(): void;
  slot: HTMLElement | null;
  setSlot(slot: HTMLElement | null): void;
}

const Context = createContext<AsideState | null>(null);

/** The panel that is open beside the conversation; only one is open at a time. */
export function useAside(): AsideState {
  const state = use(Context);
  if (!state) throw new Error("useAside was called outside of Asides");
  return state;
}

export function Asides({ children }: { children: ReactNode }) {
  const [open, show] = useState<string | null>(null);
  const [slot, setSlot] = useState<HTMLElement | null>(null);
  const state = useMemo<AsideState>(() => ({ open, slot, show, setSlot, close: () => show(null) }), [open, slot]);
  return <Context value={state}>{children}</Context>;
}

/** Where a panel is rendered on a wide page. */
export const AsideSlot = () => <div ref={useAside().setSlot} className="contents" />;

/** Media query: whether there is room for a panel beside the conversation. */
export const WIDE = "(min-width: 1200px)";

interface Props {
  name: string;
  title: string;
  children: ReactNode;
}

/** A panel, rendered while it is open: beside the conversation, or over a narrow page. */
export function Aside({ name, title, children }: Props) {
  const { open, close, slot } = useAside();
  const wide = useMedia(WIDE);
  if (open !== name) return null;
  if (!wide) {
    return (
      <Drawer title={title} side="right" onClose={close}>
        {children}
      </Drawer>
    );
  }
  return slot && createPortal(<Column title={title} onClose={close} children={children} />, slot);
}

function Column({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The focus moves into the panel, and back when it closes.
  useEffect(() => {
    const before = document.activeElement;
    heading.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      else if (document.activeElement === document.body) backToMessage(); // a long conversation keeps only what is near
    };
  }, []);
  const [width, resize] = useWidth();
  return (
    <aside
      aria-label={title}
      style={width === null ? undefined : { width }}
      className="relative flex h-full w-[26rem] max-w-[65vw] shrink-0 flex-col has-[[data-pages]]:w-[min(40rem,42vw)] border-l border-line bg-surface"
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented || composing(e.nativeEvent)) return;
        e.stopPropagation();
        onClose();
      }}
    >
      <header className="flex h-14 shrink-0 items-center justify-between gap-2 pr-3 pl-5">
        <h2 ref={heading} dir="auto" tabIndex={-1} className="min-w-0 truncate rounded text-base font-semibold">
          {title}
        </h2>
        <IconButton label={words.common.close(title)} icon={X} onClick={onClose} />
      </header>
      {children}
      <Edge width={width} onResize={resize} />
    </aside>
  );
}

const WIDTH = "palaver.panel.width";
const LEAST = 320; // pixels
const STEP = 40;
const most = () => Math.max(LEAST, Math.round(innerWidth * 0.65));

/** The width that the panel has in this browser, in pixels; null until somebody has chosen one. */
function useWidth(): [number | null, (to: number | null) => void] {
  const [width, setWidth] = useState<number | null>(() => Number(local.read(WIDTH)) || null);
  const resize = (to: number | null) => {
    const fits = to === null ? null : Math.round(Math.min(Math.max(to, LEAST), most()));
    setWidth(fits);
    local.write(WIDTH, fits === null ? null : String(fits));
  };
  return [width, resize];
}

/** The edge of the panel, which the pointer and the arrow keys move. A double click gives it its usual place. */
function Edge({ width, onResize }: { width: number | null; onResize: (to: number | null) => void }) {
  const edge = useRef<HTMLDivElement>(null);
  const [now, setNow] = useState(width ?? LEAST);
  useLayoutEffect(() => {
    const panel = edge.current!.parentElement!;
    const watch = new ResizeObserver(() => setNow(panel.offsetWidth));
    watch.observe(panel);
    return () => watch.disconnect();
  }, []);
  const onMove = (e: PointerEvent<HTMLDivElement>) => {
    if (!e.currentTarget.hasPointerCapture(e.pointerId)) return;
    onResize(e.currentTarget.parentElement!.getBoundingClientRect().right - e.clientX);
  };
  const onKey = (e: KeyboardEvent) => {
    const to = { ArrowLeft: now + STEP, ArrowRight: now - STEP, Home: most(), End: LEAST }[e.key];
    if (to === undefined && e.key !== "Enter") return;
    e.preventDefault();
    onResize(to ?? null);
  };
  return (
    <div
      ref={edge}
      role="separator"
      aria-orientation="vertical"
      aria-label={words.common.width}
      aria-valuenow={now}
      aria-valuemin={LEAST}
      aria-valuemax={most()}
      tabIndex={0}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={onMove}
      onKeyDown={onKey}
      onDoubleClick={() => onResize(null)}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none transition-colors hover:bg-accent/40 focus-visible:bg-accent/40"
    />
  );
}
