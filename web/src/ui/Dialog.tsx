import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { useState, type ReactNode } from "react";
import { words } from "../words";
import { IconButton } from "./Button";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

interface DialogProps extends Props {
  wide?: boolean;
}

/** Returns the focus to where it was before the dialog opened, unless it has gone on: a field that takes the focus at once would be taken for that place. */
function useReturn() {
  const [before] = useState(() => document.activeElement);
  return () => {
    const now = document.activeElement;
    if (now !== document.body && !now?.closest("[data-layer]")) return false;
    return before instanceof HTMLElement && before.isConnected ? before : undefined;
  };
}

const backdrop = "fixed inset-0 z-50 bg-shade transition-opacity duration-200 data-ending-style:opacity-0 data-starting-style:opacity-0";

/** A modal dialog, over the page or a drawer. Esc and a click outside close it. */
export function Dialog({ title, wide = false, onClose, children }: DialogProps) {
  const back = useReturn();
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop forceRender className={backdrop} />
        <Base.Popup finalFocus={back} data-layer className={`fixed top-1/2 left-1/2 z-50 flex max-h-[85dvh] ${wide ? "w-[min(40rem,calc(100vw-2rem))]" : "w-[min(28rem,calc(100vw-2rem))]"} -translate-x-1/2 -translate-y-1/2 flex-col rounded-2xl border border-line bg-surface shadow-float outline-none transition duration-150 data-ending-style:scale-97 data-ending-style:opacity-0 data-starting-style:scale-97 data-starting-style:opacity-0`}>
          <Base.Title className="pt-5 pr-14 pl-5 text-base font-semibold">{title}</Base.Title>
          <div className="min-h-0 overflow-y-auto px-5 pt-4 pb-5">{children}</div>
          {/* Last in the DOM, because the first element gets the focus: that should be the content. */}
          <Base.Close className="absolute top-3.5 right-3 pointer-coarse:top-2.5" render={<IconButton label={words.common.close(title)} icon={X} />} />
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface DrawerProps extends Props {
  side: "left" | "right";
}

/** A panel that slides over a narrow page from one side. */
export function Drawer({ title, side, onClose, children }: DrawerProps) {
  const place =
    side === "left"
      ? "left-0 w-[min(19rem,85vw)] data-ending-style:-translate-x-full data-starting-style:-translate-x-full"
      : "right-0 w-[min(30rem,100vw)] data-ending-style:translate-x-full data-starting-style:translate-x-full";
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={backdrop} />
        <Base.Popup data-layer data-drawer className={`fixed inset-y-0 z-50 flex flex-col bg-surface shadow-float outline-none transition-transform duration-200 ease-out ${place}`}>
          <header className="flex items-center justify-between gap-2 py-3 pr-3 pl-5">
            <Base.Title dir="auto" className="min-w-0 truncate text-base font-semibold">{title}</Base.Title>
            <Base.Close render={<IconButton label={words.common.close(title)} icon={X} />} />
          </header>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
