import { Gauge, Search, SearchCheck, Zap, type LucideIcon } from "lucide-react";
import { useState } from "react";
import { useConfig } from "../api/useConfig";
import { local } from "../lib/storage";
import { Menu, MenuChoice } from "../ui/Menu";
import { words } from "../words";

const icons = { default: Gauge, quick: Zap, normal: Search, thorough: SearchCheck } satisfies Record<string, LucideIcon>;

/** How much work an answer may take; default leaves it to the server. */
export type Effort = keyof typeof icons;
export const efforts = Object.keys(icons) as Effort[];

const KEY = "palaver.effort";

/** The person's choice, kept for the next visit. Without a model there is none. */
export function useEffort(): [Effort, (effort: Effort) => void] {
  const { offline } = useConfig();
  const [effort, setEffort] = useState(() => efforts.find((e) => e === local.read(KEY)) ?? "default");
  const choose = (e: Effort) => {
    local.write(KEY, e === "default" ? null : e);
    setEffort(e);
  };
  return [offline ? "default" : effort, choose];
}

/** The field of a message for a choice. */
export const effortField = (effort: Effort): { effort?: string } => (effort === "default" ? {} : { effort });

/** Chooses how much work the next answers may take. */
export function EffortMenu({ value, onChange }: { value: Effort; onChange: (effort: Effort) => void }) {
  const { offline } = useConfig();
  if (offline) return null;
  const Glyph = icons[value];
  const label = words.composer.effort(words.composer.efforts[value].label);
  const trigger = (
    <button type="button" aria-label={label} title={label} className="inline-flex h-9 shrink-0 items-center rounded-lg px-2 text-muted transition-colors hover:bg-sunken hover:text-ink pointer-coarse:h-11 pointer-coarse:px-3.5">
      <Glyph aria-hidden className="size-4" />
    </button>
  );
  const options = efforts.map((e) => ({ value: e, icon: icons[e], ...words.composer.efforts[e] }));
  return (
    <Menu trigger={trigger} align="start" side="top">
      <MenuChoice label={words.composer.effortChoice} value={value} options={options} onChange={onChange} />
    </Menu>
  );
}
