import { EditorContent } from "@tiptap/react";
import "./composer.css";
import { MentionList } from "./MentionList";
import type { FieldState } from "./useField";

/** The text of a message, and the list for an "@" in it. Its parent must be positioned, because the list is absolute. */
export function Field({ field: { editor, list } }: { field: FieldState }) {
  return (
    <>
      {list.open && <MentionList id={list.id} groups={list.groups} active={list.active} onPick={list.pick} />}
      <EditorContent editor={editor} onBlur={list.close} />
    </>
  );
}
