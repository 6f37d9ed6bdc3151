import { CircleAlert, X } from "lucide-react";
import { useEffect, useState } from "react";
import { useConfig } from "../api/useConfig";
import { words } from "../words";
import { kindIcons } from "./kinds";
import { findLinks } from "./links";

/** Milliseconds without a change before a typed link counts as complete. */
const TYPED_MS = 700;

/** Chips that show what the links in a draft point to. */
export default function LinkChips({ text, onRemove }: { text: string; onRemove: (link: string) => void }) {
  const settled = useSettled(text);
  const { googleDrive } = useConfig();
  const links = findLinks(text).filter((l) => l.kind !== null || settled === text);
  if (links.length === 0) return null;
  return (
    <ul aria-label={words.imports.links} className="flex flex-wrap gap-2 px-3 pt-3">
      {links.map(({ text: link, kind, key, host, label = kind ? words.imports.kinds[kind] : "" }) => {
        const unset = kind !== null && kind !== "web" && !googleDrive;
        const problem = kind === null ? words.texts["import.no_drive_link"] : unset ? words.texts["import.drive_not_configured"] : "";
        const Glyph = kind && !unset ? kindIcons[kind] : CircleAlert;
        return (
          <li key={key} data-link={kind ?? "malformed"} className={`flex max-w-full items-center gap-2.5 rounded-lg py-1.5 pr-1.5 pl-2.5 text-sm ${problem ? "bg-warn-soft text-warn" : "bg-sunken"}`}>
            <Glyph aria-hidden className={`size-4 shrink-0 ${problem ? "" : "text-accent"}`} />
            {problem ? (
              <span role="alert" className="min-w-0">
                {problem}
              </span>
            ) : (
              <span className="min-w-0 truncate">
                <span className="font-medium">{label}</span> <span className="text-muted">{host}</span>
              </span>
            )}
            <button
              type="button"
              aria-label={words.common.remove(kind ? `${label} ${host}` : words.imports.links)}
              onClick={() => onRemove(link)}
              className="relative inline-flex size-6 shrink-0 items-center justify-center rounded-full border border-line bg-surface text-muted hover:text-ink pointer-coarse:after:absolute pointer-coarse:after:-inset-2.5"
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** The text, delayed until it has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const soon = setTimeout(() => setSettled(text), TYPED_MS);
    return () => clearTimeout(soon);
  }, [text]);
  return settled;
}
