import { Editor, type EditorOptions } from "@tiptap/core";
import { useEffect, useRef, useState } from "react";

/**
 * An editor that is the same from the first drawing of its component to its
 * end. TipTap's own hook destroys one whose component is not in the page after
 * a millisecond, as happens on a slow machine, and makes another: to put the
 * caret into the first, which the page still had in hand, was an error.
 */
export function useEditor(options: Partial<EditorOptions>): Editor {
  const [editor] = useState(() => new Editor(options));
  const end = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(end.current);
    // Not at once: React's StrictMode takes a new component out of the page, and puts it back.
    return () => void (end.current = setTimeout(() => editor.destroy()));
  }, [editor]);
  return editor;
}
