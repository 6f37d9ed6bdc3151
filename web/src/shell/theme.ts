import { useSyncExternalStore } from "react";
import { local } from "../lib/storage";

export type Theme = "system" | "light" | "dark";

const KEY = "palaver.theme"; // public/theme.js reads it, too
const listeners = new Set<() => void>();

function current(): Theme {
  const value = document.documentElement.dataset.theme;
  return value === "light" || value === "dark" ? value : "system";
}

function apply(theme: Theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const changed of listeners) changed();
}

function subscribe(changed: () => void) {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** The chosen look, and a way to choose another; it holds for every tab. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, current);
  const choose = (next: Theme) => {
    local.write(KEY, next === "system" ? null : next);
    apply(next);
  };
  return [theme, choose];
}

window.addEventListener("storage", (e) => {
  if (e.key === KEY) apply((local.read(KEY) as Theme | null) ?? "system");
});
