import { Editor, type EditorOptions } from "@tiptap/core";
import { useEffect, useRef, useState } from "react";

/**
 * An editor that lives as long as its component. TipTap's own hook destroys an
 * editor whose component is not mounted after 1 ms, as on a slow machine, and
 * creates another. Code that still held the first one then failed to focus it.
 */
export function useEditor(options: Partial<EditorOptions>): Editor {
  const [editor] = useState(() => new Editor(options));
  const end = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(end.current);
    // Destroy later: React's StrictMode unmounts a new component and mounts it again.
    return () => void (end.current = setTimeout(() => editor.destroy()));
  }, [editor]);
  return editor;
}
