import { useEffect, useState } from "react";
import { Count } from "../composer/Count";
import { Field } from "../composer/Field";
import { onTouch } from "../composer/focus";
import { docOf, isBlank, messageContent, type MessageContent } from "../composer/outgoing";
import { Tray } from "../composer/Tray";
import type { Attachment, Outgoing } from "../composer/types";
import { useField } from "../composer/useField";
import { Button } from "../ui/Button";
import { composing } from "../ui/composing";
import { words } from "../words";
import { attachmentsOf, documentOf, textOf } from "./parts";
import type { Message } from "./types";

interface Props {
  message: Message;
  /** The name of the form; "Edit message" if absent. */
  label?: string;
  /** The label of the button that saves; "Send" if absent. */
  saveLabel?: string;
  /** The model that was chosen for it. */
  model?: string | undefined;
  onSave: (out: Outgoing) => void;
  onCancel: () => void;
}

const none: never[] = [];
const nothing = () => {};

/** Edits a message in place with the editor of the composer. Its images can be removed, but none can be added. */
export function MessageEditor({ message, label = words.message.edit, saveLabel = words.composer.send, model = message.metadata?.model, onSave, onCancel }: Props) {
  const [before] = useState(() => ({ doc: documentOf(message) ?? docOf(textOf(message)), pictures: attachmentsOf(message) }));
  const [pictures, setPictures] = useState(before.pictures);
  const field = useField({
    label: words.message.editedText,
    content: before.doc,
    placeholder: words.message.editPlaceholder,
    onEnter: () => save(),
    onEscape: onCancel,
    onFiles: () => {},
  });
  const ready = ({ doc, tooLong }: Pick<typeof field, "doc" | "tooLong">): boolean => {
    const now = messageContent(doc);
    return essence(now, pictures) !== essence(messageContent(before.doc), before.pictures) && (!isBlank(now.text) || pictures.length > 0) && !tooLong;
  };
  const save = () => {
    const written = field.read();
    if (ready(written)) onSave({ ...messageContent(written.doc), attachments: pictures, onBusy: "supersede" });
  };

  const { focus } = field;
  useEffect(focus, [focus]);

  const remove = (id: string) => {
    setPictures(pictures.filter((p) => p.id !== id));
    if (!onTouch()) focus();
  };

  return (
    <form
      aria-label={label}
      className="relative ml-auto w-full rounded-2xl border border-accent bg-surface"
      onSubmit={(e) => {
        e.preventDefault();
        save();
      }}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || e.defaultPrevented || composing(e.nativeEvent)) return; // the editor handles its own Esc
        e.preventDefault();
        onCancel();
      }}
    >
      <Tray model={model} attachments={pictures} uploads={none} unreadable={none} onRemove={remove} onDismiss={nothing} onUnmention={nothing} />
      <Field field={field} />
      <div className="flex flex-wrap items-center justify-end gap-2 px-3 pb-3">
        <Count length={field.length} />
        <Button variant="plain" onClick={onCancel}>
          {words.common.cancel}
        </Button>
        <Button variant="primary" type="submit" disabled={!ready(field)}>
          {saveLabel}
        </Button>
      </div>
    </form>
  );
}

/** Key to compare two versions of a message. */
const essence = ({ tiptap: _, ...rest }: MessageContent, pictures: Attachment[]): string => JSON.stringify([rest, pictures.map((p) => p.id)]);
