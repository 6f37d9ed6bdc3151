import { useEffect, useRef, type ReactNode } from "react";
import { useMedia } from "../state/useMedia";
import { Icon } from "./Icon";

interface Props {
  title: string;
  side: "left" | "right";
  onClose: () => void;
  children: ReactNode;
}

/** A panel beside the conversation; where there is no room, a dialog over it. */
export function Sheet({ title, side, onClose, children }: Props) {
  const wide = useMedia("(min-width: 1024px)");
  const head = (
    <header className="flex items-center justify-between gap-2 px-5 pt-4 pb-2">
      <h2 className="min-w-0 truncate text-base font-semibold">{title}</h2>
      <button type="button" className="icon-button" aria-label={`Close ${title}`} onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
  );
  if (wide && side === "right") {
    return (
      <aside aria-label={title} className="flex h-full w-[26rem] shrink-0 flex-col border-l border-line bg-surface">
        {head}
        {children}
      </aside>
    );
  }
  return (
    <Modal title={title} side={side} onClose={onClose}>
      {head}
      {children}
    </Modal>
  );
}

function Modal({ title, side, onClose, children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  const place = side === "left" ? "mr-auto max-w-[20rem] w-[85vw]" : "ml-auto max-w-[32rem] w-full";
  return (
    <dialog
      ref={ref}
      aria-label={title}
      className={`m-0 h-dvh max-h-none bg-surface ${place}`}
      onCancel={(e) => {
        e.preventDefault();
        onClose();
      }}
      onClick={(e) => e.target === ref.current && onClose()}
    >
      <div className="flex h-full flex-col">{children}</div>
    </dialog>
  );
}
