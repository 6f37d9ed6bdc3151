import { useLayoutEffect, useSyncExternalStore } from "react";
import { local } from "../lib/storage";

export type Theme = "system" | "light" | "dark";

const KEY = "palaver.theme"; // also read by public/theme.js
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

/** The chosen theme and its setter, for all tabs. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(subscribe, current);
  const choose = (next: Theme) => {
    local.write(KEY, next === "system" ? null : next);
    apply(next);
  };
  return [theme, choose];
}

/** Shows a page as it will be on paper: light, with its diagrams. */
export function useLight(): void {
  useLayoutEffect(() => {
    const before = current();
    apply("light");
    return () => apply(before);
  }, []);
}

window.addEventListener("storage", (e) => {
  if (e.key === KEY) apply((local.read(KEY) as Theme | null) ?? "system");
});
