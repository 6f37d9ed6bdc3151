import { Upload } from "lucide-react";
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { words } from "../words";

interface Props {
  /** null means no files are accepted. */
  onFiles: ((files: File[]) => void) | null;
}

/**
 * Adds files that are dropped anywhere on the page to the message. A part of the
 * page that handles a drop itself calls preventDefault. A file never opens in place
 * of the page, as browsers do by default, even if it is not accepted.
 */
export function DropZone({ onFiles }: Props) {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const carriesFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files") ?? false;
    const enter = (e: DragEvent) => {
      if (!carriesFiles(e)) return;
      setOver(onFiles !== null && !e.defaultPrevented);
      if (onFiles === null && !e.defaultPrevented) e.dataTransfer!.dropEffect = "none";
      e.preventDefault();
    };
    const leave = (e: DragEvent) => {
      if (e.relatedTarget === null) setOver(false);
    };
    const drop = (e: DragEvent) => {
      setOver(false);
      if (!carriesFiles(e) || e.defaultPrevented) return;
      e.preventDefault();
      onFiles?.([...(e.dataTransfer?.files ?? [])]);
    };
    // ProseMirror calls preventDefault for a drop on its text. Such a drop adds files, too.
    const dropOnText = (e: DragEvent) => {
      if (e.target instanceof Element && e.target.closest(".composer-text") && carriesFiles(e)) {
        e.preventDefault();
        e.stopPropagation();
        setOver(false);
        onFiles?.([...(e.dataTransfer?.files ?? [])]);
      }
    };
    window.addEventListener("drop", dropOnText, { capture: true });
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragover", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("drop", dropOnText, { capture: true });
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragover", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [onFiles]);
  if (!over) return null;
  return createPortal(
    <div className="pointer-events-none fixed inset-3 z-50 flex items-center justify-center gap-3 rounded-3xl border-2 border-dashed border-accent bg-surface/90 text-lg font-medium text-accent backdrop-blur-md">
      <Upload aria-hidden className="size-6" /> {words.composer.drop}
    </div>,
    document.body,
  );
}
