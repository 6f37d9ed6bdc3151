import { CircleAlert, FileText, Upload, X } from "lucide-react";
import { useRef, useState, useSyncExternalStore } from "react";
import type { Upload as Sent } from "../api/uploads";
import { useConfig } from "../api/useConfig";
import { Batch } from "../ui/Batch";
import { IconButton } from "../ui/Button";
import { Refused } from "../ui/Refused";
import { besideRow } from "../ui/rows";
import { words } from "../words";
import { addDocument, panelUploads } from "./library";

/** Uploads chosen or dropped files and shows their progress. */
export function UploadBox() {
  const { maxUpload, documentTypes } = useConfig();
  const uploads = useSyncExternalStore(panelUploads.subscribe, panelUploads.items);
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const add = (files: Iterable<File>) => {
    for (const file of files) void addDocument(panelUploads, file, maxUpload);
  };
  return (
    <>
      <div
        onDragOver={(e) => {
          e.preventDefault(); // so that DropZone does not attach it to the message
          setOver(true);
        }}
        onDragEnter={(e) => e.preventDefault()}
        onDragLeave={() => setOver(false)}
        onDrop={(e) => {
          e.preventDefault();
          setOver(false);
          add(e.dataTransfer.files);
        }}
      >
        <button
          type="button"
          className={`flex w-full flex-col items-center gap-1 rounded-xl border border-dashed px-4 py-5 text-sm transition-colors ${over ? "border-accent bg-accent-soft" : "border-edge hover:border-accent hover:bg-accent-soft"}`}
          onClick={() => picker.current?.click()}
        >
          <span className="flex items-center gap-2 font-medium">
            <Upload aria-hidden className="size-4 text-accent" /> {words.library.add}
          </span>
          <span className="text-xs text-muted">{words.library.types(documentTypes.map((t) => t.label), Math.floor(maxUpload / (1 << 20)))}</span>
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          accept={documentTypes.flatMap((t) => t.extensions).join()}
          aria-label={words.library.add}
          hidden
          onChange={(e) => {
            add([...(e.target.files ?? [])]);
            e.target.value = ""; // so that the same file can be chosen again
          }}
        />
      </div>
      <Refused uploads={uploads} />
      {uploads.length > 0 && (
        <ul aria-label={words.library.uploads} className="mt-3 space-y-2">
          <Batch items={uploads.filter((u) => !u.error)} label={words.library.uploading} look="bg-sunken" row={(u) => <UploadRow key={u.key} upload={u} />} />
          <Batch items={uploads.filter((u) => u.error)} label={words.library.notAdded} look="bg-bad-soft text-bad" row={(u) => <UploadRow key={u.key} upload={u} />} />
        </ul>
      )}
    </>
  );
}

function UploadRow({ upload: u }: { upload: Sent }) {
  const Glyph = u.error ? CircleAlert : FileText;
  return (
    <li className={`flex items-center gap-3 rounded-lg py-1.5 pr-1 pl-2.5 text-sm ${u.error ? "bg-bad-soft text-bad" : "bg-sunken"}`}>
      <Glyph aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1">
        <span className={u.error ? "block" : "block truncate"}>{u.error ?? u.name}</span>
        {!u.error && <progress aria-label={words.common.uploading(u.name)} className="bar mt-1 h-1 w-full" {...(u.progress !== null && { value: u.progress })} />}
      </span>
      <IconButton
        label={u.error ? words.library.dismissUpload(u.name) : words.library.cancelUpload(u.name)}
        icon={X}
        size="small"
        className="text-inherit"
        onClick={(e) => {
          besideRow(e.currentTarget)?.focus();
          panelUploads.dismiss(u.key);
        }}
      />
    </li>
  );
}
