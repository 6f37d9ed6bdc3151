import { useEffect, useState } from "react";
import { focusMessage, onTouch } from "../composer/focus";
import { commandKey, mac } from "../lib/keys";
import { composing } from "../ui/composing";
import { underLayer } from "../ui/layer";
import { words } from "../words";

interface Shortcut {
  keys: string[];
  what: string;
}

/** What can be done by keyboard beside moving from control to control, as the list of it says. */
export function shortcuts(touch = onTouch()): Shortcut[] {
  const command = commandKey();
  const { shift, enter, esc } = words.shortcuts.keys;
  return [
    { keys: [command, "K"], what: words.shell.searchChats },
    { keys: [command, shift, "O"], what: words.shell.newChat },
    { keys: [shift, esc], what: words.shortcuts.focusMessage },
    ...(touch ? [] : [{ keys: [enter], what: words.shortcuts.send }]),
    { keys: [command, enter], what: words.composer.queue },
    { keys: touch ? [enter] : [shift, enter], what: words.shortcuts.newLine },
    { keys: ["@"], what: words.composer.mention },
    { keys: [esc], what: words.shortcuts.escape },
    { keys: [command, "/"], what: words.shortcuts.show },
  ];
}

type Name = "search" | "new" | "write" | "list";

/** Which shortcut a key press is. All have a modifier: a letter alone may be anybody's dictation. */
export function shortcutOf(e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">, command: "ctrlKey" | "metaKey" = mac ? "metaKey" : "ctrlKey"): Name | null {
  if (e.altKey) return null;
  if (e.key === "Escape") return e.shiftKey && !e.ctrlKey && !e.metaKey ? "write" : null;
  if (!e[command]) return null;
  const key = e.key.toLowerCase();
  if (e.shiftKey) return key === "o" ? "new" : null;
  return key === "k" ? "search" : key === "/" ? "list" : null;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>("[type=search]");
  search?.focus();
  return search !== null;
}

/** Listens for the shortcuts of the whole page, but not under what lies over it. Returns whether their list is open. */
export function useShortcuts(onNew: () => void): [open: boolean, setOpen: (open: boolean) => void] {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const act: Record<Name, () => boolean> = {
      search: focusSearch,
      new: () => (onNew(), true),
      write: focusMessage,
      list: () => (setOpen(true), true),
    };
    const onKey = (e: KeyboardEvent) => {
      const name = shortcutOf(e);
      if (!name || e.defaultPrevented || composing(e) || underLayer()) return;
      if (act[name]()) e.preventDefault(); // the browser's own, and a stop, wait
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [onNew]);
  return [open, setOpen];
}
