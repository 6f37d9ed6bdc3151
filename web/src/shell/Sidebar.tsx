import { Keyboard, Monitor, Moon, SquarePen, Sun } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";
import { useConfig } from "../api/useConfig";
import { IconButton } from "../ui/Button";
import { Menu, MenuChoice } from "../ui/Menu";
import { SearchField } from "../ui/SearchField";
import { words } from "../words";
import { ConversationList } from "./ConversationList";
import { useTheme, type Theme } from "./theme";
import type { Go } from "./useRoute";
import { YourData } from "./YourData";

interface Props {
  current: string | null;
  onOpen: Go;
  /** Lists what can be done by keyboard; absent where there is none. */
  onShortcuts?: () => void;
}

/** The conversations, and what holds for all of them. */
export function Sidebar({ current, onOpen, onShortcuts }: Props) {
  const [search, setSearch] = useState("");
  const [entered, setEntered] = useState(false); // what is found first is to be opened
  const q = useDeferredValue(search.trim());
  const box = useRef<HTMLDivElement>(null);
  const change = (value: string) => {
    setSearch(value);
    setEntered(false);
  };
  const open: Go = (id, how) => {
    setEntered(false);
    onOpen(id, how);
  };
  return (
    <div ref={box} className="flex min-h-0 flex-1 flex-col">
      <div className="space-y-2 px-3 pb-2">
        <button
          type="button"
          className="flex h-9 w-full items-center gap-2.5 pointer-coarse:h-11 rounded-lg border border-line bg-surface px-3 text-sm font-medium shadow-soft transition-colors hover:border-edge"
          onClick={() => open(null)}
        >
          <SquarePen aria-hidden className="size-4 text-accent" /> {words.shell.newChat}
        </button>
        <SearchField label={words.shell.searchChats} value={search} onChange={change} onDown={() => box.current?.querySelector<HTMLElement>("nav a")?.focus()} onEnter={() => setEntered(search.trim() !== "")} />
      </div>
      <ConversationList q={q} current={current} openFirst={entered && q === search.trim()} onOpen={open} />
      <footer className="flex items-center gap-1 border-t border-line px-3 py-2">
        <ModelLine />
        {onShortcuts && <IconButton label={words.shortcuts.title} icon={Keyboard} onClick={onShortcuts} />}
        <YourData />
        <ThemeMenu />
      </footer>
    </div>
  );
}

function ModelLine() {
  const { offline, modelLabel } = useConfig();
  if (!offline) return <p className="min-w-0 flex-1 truncate px-2 text-xs text-muted">{modelLabel}</p>;
  return (
    <details className="relative min-w-0 flex-1 text-xs text-muted">
      <summary className="cursor-pointer list-none rounded-md px-2 py-1.5 hover:text-ink pointer-coarse:py-3.5">{words.shell.offline}</summary>
      <p className="absolute bottom-full left-0 z-20 mb-2 w-64 rounded-xl border border-line bg-surface p-4 text-sm text-ink shadow-float">
        {words.shell.offlineHelp}
      </p>
    </details>
  );
}

const icons = { system: Monitor, light: Sun, dark: Moon };
const themes = ["system", "light", "dark"] as const;

function ThemeMenu() {
  const [theme, choose] = useTheme();
  const options = themes.map((value) => ({ value, label: words.shell.themes[value], icon: icons[value] }));
  return (
    <Menu side="top" trigger={<IconButton label={words.shell.theme} icon={icons[theme]} />}>
      <MenuChoice<Theme> label={words.shell.theme} value={theme} options={options} onChange={choose} />
    </Menu>
  );
}
