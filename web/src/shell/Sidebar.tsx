import { Keyboard, LayoutDashboard, Monitor, Moon, SquarePen, Sun } from "lucide-react";
import { useDeferredValue, useRef, useState, type MouseEvent } from "react";
import { useConfig } from "../api/useConfig";
import { SignInButton } from "../session/SignInButton";
import { useSpaceId } from "../api/space";
import { SpaceSwitch } from "../spaces/SpaceSwitch";
import { IconButton } from "../ui/Button";
import { Menu, MenuChoice } from "../ui/Menu";
import { SearchField } from "../ui/SearchField";
import { ToastRoom } from "../ui/toast";
import { words } from "../words";
import { ConversationList } from "./ConversationList";
import { useTheme, type Theme } from "./theme";
import { boardAddress, type Go, type Place, type Visit } from "./useRoute";
import { YourData } from "./YourData";

interface Props {
  place: Place | null;
  onOpen: Go;
  onVisit: Visit;
  /** Opens the list of shortcuts; absent on devices without a keyboard. */
  onShortcuts?: () => void;
}

/** Whether a click on a link asks for another tab or window. */
const elsewhere = (e: MouseEvent) => e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0;

/** The list of conversations, its search, and the menus for the whole page. */
export function Sidebar({ place, onOpen, onVisit, onShortcuts }: Props) {
  const current = place?.page === "chat" ? place.id : null;
  useSpaceId(); // of the address of the boards
  const [search, setSearch] = useState("");
  const [entered, setEntered] = useState(false); // Enter opens the first result
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
    <div ref={box} data-chats className="flex min-h-0 flex-1 flex-col">
      <div className="space-y-2 px-3 pb-2">
        <SpaceSwitch onVisit={onVisit} />
        <button
          type="button"
          className="flex h-9 w-full items-center gap-2.5 pointer-coarse:h-11 rounded-lg border border-line bg-surface px-3 text-sm font-medium shadow-soft transition-colors hover:border-edge"
          onClick={() => open(null)}
        >
          <SquarePen aria-hidden className="size-4 text-accent" /> {words.shell.newChat}
        </button>
        <a
          href={boardAddress(null)}
          aria-current={place?.page === "discovery" ? "page" : undefined}
          className="flex h-9 w-full items-center gap-2.5 rounded-lg px-3 text-sm font-medium transition-colors pointer-coarse:h-11 hover:bg-sunken aria-[current]:bg-accent-soft"
          onClick={(e) => {
            if (elsewhere(e)) return;
            e.preventDefault();
            onVisit({ page: "discovery", id: null });
          }}
        >
          <LayoutDashboard aria-hidden className="size-4 text-accent" /> {words.shell.discovery}
        </a>
        <SearchField label={words.shell.searchChats} value={search} onChange={change} onDown={() => box.current?.querySelector<HTMLElement>("nav a")?.focus()} onEnter={() => setEntered(search.trim() !== "")} />
      </div>
      <ConversationList q={q} current={current} openFirst={entered && q === search.trim()} onOpen={open} />
      <SignInButton />
      <footer className="flex items-center gap-1 border-t border-line px-3 py-2">
        {current !== null && <ModelLine />}
        {current === null && <ModelName />}
        {onShortcuts && <IconButton label={words.shortcuts.title} icon={Keyboard} onClick={onShortcuts} />}
        <YourData />
        <ThemeMenu />
      </footer>
      <ToastRoom />
    </div>
  );
}

/** Shows the name of the model. Without a model it shows nothing, because the welcome page says so, and where people choose one, because the composer does. */
function ModelName() {
  const { offline, modelLabel, models } = useConfig();
  return <p className="min-w-0 flex-1 truncate px-2 text-xs text-muted">{offline || models.length > 1 ? "" : modelLabel}</p>;
}

function ModelLine() {
  const { offline } = useConfig();
  if (!offline) return <ModelName />;
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
