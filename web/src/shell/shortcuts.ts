import { useEffect, useState } from "react";
import { focusMessage, onTouch } from "../composer/focus";
import { commandKey, mac } from "../lib/keys";
import { composing } from "../ui/composing";
import { layerIsOpen } from "../ui/layer";
import { words } from "../words";

interface Shortcut {
  keys: string[];
  what: string;
}

/** The keyboard shortcuts, as their list shows them. */
export function shortcuts(touch = onTouch()): Shortcut[] {
  const command = commandKey();
  const { shift, enter, esc } = words.shortcuts.keys;
  return [
    { keys: [command, "K"], what: words.shell.searchChats },
    { keys: [command, "F"], what: words.thread.find },
    { keys: [command, shift, "L"], what: words.thread.quoteSelection },
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

/** The shortcut of a key press. All have a modifier, since speech input presses single letters. */
export function shortcutOf(e: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">, command: "ctrlKey" | "metaKey" = mac ? "metaKey" : "ctrlKey"): Name | null {
  if (e.altKey) return null;
  if (e.key === "Escape") return e.shiftKey && !e.ctrlKey && !e.metaKey ? "write" : null;
  if (!e[command]) return null;
  const key = e.key.toLowerCase();
  if (e.shiftKey) return key === "o" ? "new" : null;
  return key === "k" ? "search" : key === "/" ? "list" : null;
}

function focusSearch(): boolean {
  const search = document.querySelector<HTMLElement>("[data-chats] [type=search]");
  search?.focus();
  return search !== null;
}

/** Focuses the search of the conversations; open shows them if they are hidden. */
function goToSearch(open: () => void): boolean {
  if (focusSearch()) return true;
  open();
  requestAnimationFrame(() => requestAnimationFrame(focusSearch)); // after it is rendered and has taken the focus
  return true;
}

/** Handles the page's shortcuts, except while a dialog or menu is open. Returns whether the list of shortcuts is open. */
export function useShortcuts(onNew: () => void, onChats: () => void): [open: boolean, setOpen: (open: boolean) => void] {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const act: Record<Name, () => boolean> = {
      search: () => goToSearch(onChats),
      new: () => (onNew(), true),
      write: focusMessage,
      list: () => (setOpen(true), true),
    };
    const onKey = (e: KeyboardEvent) => {
      const name = shortcutOf(e);
      if (!name || e.defaultPrevented || composing(e) || layerIsOpen()) return;
      if (act[name]()) e.preventDefault(); // no browser shortcut and no stop
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [onNew, onChats]);
  return [open, setOpen];
}
