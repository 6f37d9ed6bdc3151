import { X } from "lucide-react";
import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { createPortal } from "react-dom";
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
    };
  }, []);
  return (
    <aside
      aria-label={title}
      className="flex h-full w-[26rem] shrink-0 flex-col has-[[data-pages]]:w-[min(40rem,42vw)] border-l border-line bg-surface"
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented || composing(e.nativeEvent)) return;
        e.stopPropagation();
        onClose();
      }}
    >
      <header className="flex h-14 shrink-0 items-center justify-between gap-2 pr-3 pl-5">
        <h2 ref={heading} dir="auto" tabIndex={-1} className="min-w-0 truncate text-base font-semibold outline-none">
          {title}
        </h2>
        <IconButton label={words.common.close(title)} icon={X} onClick={onClose} />
      </header>
      {children}
    </aside>
  );
}
