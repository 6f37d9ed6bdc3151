import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Uploads } from "../api/uploads";
import { useConfig } from "../api/useConfig";
import { addDocument } from "../documents/library";
import { words } from "../words";
import type { Place } from "./editor";
import { keepChat } from "./newChat";
import { pastedFile } from "./pasted";
import type { Attachment } from "./types";

export const PICTURES = ["image/jpeg", "image/png", "image/webp"];
const PICTURE_BYTES = 10 << 20;
const MOST_PICTURES = 8;

interface Made {
  id: string;
  url: string;
}

/** A document that was attached to the message that is being written. */
export interface Kept {
  id: string;
  /** What was pasted; undefined for a file. */
  text: string | undefined;
}

/**
 * The files of a message. An image is attached; any other file becomes a document
 * of the conversation (null: of the library), which the message then mentions. Uploads that
 * still run when the composer unmounts are aborted. The mention stands where the message ended when the
 * file was attached, so that it parts no words that are written meanwhile.
 */
export function useFiles(initial: Attachment[], conversation: string | null, onDocument: (doc: { id: string; title: string }, at: number) => void, end: () => Place) {
  const [uploads] = useState(() => new Uploads());
  const [attachments, setAttachments] = useState(initial);
  const [kept, setKept] = useState<readonly Kept[]>([]);
  const items = useSyncExternalStore(uploads.subscribe, uploads.items);
  const { maxUpload } = useConfig();
  const onTheWay = useRef(0); // images being uploaded

  const mentioned = useRef<Promise<unknown>>(Promise.resolve()); // the files so far: each is mentioned after those before it
  const left = useRef(false);
  useEffect(() => {
    left.current = false;
    return () => {
      left.current = true;
      uploads.abort();
    };
  }, [uploads]);

  const keep = useCallback(
    async (file: File, title?: string, text?: string) => {
      const place = end();
      const adding = addDocument(uploads, file, maxUpload, { ...(conversation && { conversation_id: keepChat(conversation) }), ...(title && { title }) });
      const before = mentioned.current;
      mentioned.current = Promise.allSettled([adding, before]);
      await before;
      let doc;
      try {
        doc = await adding;
      } finally {
        place.forget();
      }
      if (!doc || left.current) return;
      setKept((all) => [...all, { id: doc.id, text }]);
      onDocument(doc, place.at());
    },
    [uploads, maxUpload, conversation, onDocument, end],
  );

  const add = useCallback(
    (files: Iterable<File>, pictures: number) => {
      let room = MOST_PICTURES - pictures - onTheWay.current;
      for (const file of files) {
        if (!PICTURES.includes(file.type)) {
          void keep(file);
        } else if (room-- <= 0) {
          uploads.refuse(file.name, words.library.tooManyImages(file.name, MOST_PICTURES));
        } else {
          onTheWay.current++;
          void uploads.send<Made>("/api/attachments", file, PICTURE_BYTES).then((made) => {
            onTheWay.current--;
            if (made) setAttachments((all) => [...all, { id: made.id, url: made.url, mime: file.type, name: file.name }]);
          });
        }
      }
    },
    [uploads, keep],
  );

  return {
    attachments,
    /** The documents that were attached since the last message. */
    kept,
    /** Makes a document of a pasted text. */
    paste: useCallback(
      (text: string) => {
        const { file, title } = pastedFile(text, new Date());
        void keep(file, title, text);
      },
      [keep],
    ),
    uploads: items,
    sending: items.some((u) => !u.error),
    add: useCallback((files: Iterable<File>) => add(files, attachments.length), [add, attachments.length]),
    remove: useCallback((id: string) => setAttachments((all) => all.filter((a) => a.id !== id)), []),
    dismiss: uploads.dismiss,
    /** Restores images that were sent. */
    restore: useCallback((sent: Attachment[]) => setAttachments((all) => [...sent, ...all.filter((a) => !sent.some((s) => s.id === a.id))]), []),
    /** Call after sending, with or without the pictures. With them, it also dismisses upload errors. */
    clear: useCallback((pictures = true) => {
      setKept([]);
      if (!pictures) return;
      setAttachments([]);
      for (const u of uploads.items()) if (u.error) uploads.dismiss(u.key);
    }, [uploads]),
  };
}
