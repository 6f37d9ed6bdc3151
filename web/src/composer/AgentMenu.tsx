import { BookOpenText, ChevronDown, Wrench } from "lucide-react";
import { Menu, MenuChoice } from "../ui/Menu";
import { words } from "../words";
import type { Outgoing } from "./types";

export type Agent = NonNullable<Outgoing["agent"]>;

const agents = () => [
  { value: "documents" as const, icon: BookOpenText, ...words.composer.agents.documents },
  { value: "assistant" as const, icon: Wrench, ...words.composer.agents.assistant },
];

/** Who answers in a new conversation: the one that reads documents, or the one that has tools. */
export function AgentMenu({ value, onChange }: { value: Agent; onChange: (agent: Agent) => void }) {
  const { label, icon: Glyph } = agents().find((a) => a.value === value)!;
  const trigger = (
    <button type="button" aria-label={words.composer.mode(label)} className="inline-flex h-9 min-w-0 items-center gap-1.5 rounded-lg px-2.5 text-sm text-muted transition-colors hover:bg-sunken hover:text-ink pointer-coarse:h-11">
      <Glyph aria-hidden className="size-4 shrink-0" /> <span className="truncate">{label}</span> <ChevronDown aria-hidden className="size-3.5 shrink-0" />
    </button>
  );
  return (
    <Menu trigger={trigger} align="start" side="top">
      <MenuChoice label={words.composer.modes} value={value} options={agents()} onChange={onChange} />
    </Menu>
  );
}
