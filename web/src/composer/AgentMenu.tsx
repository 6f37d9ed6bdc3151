import { BookOpenText, Bot, ChevronDown, Wrench, type LucideIcon } from "lucide-react";
import type { Agent } from "../api/config";
import { Menu, MenuChoice } from "../ui/Menu";
import { words } from "../words";
import { agentText } from "./labels";

const icons: Record<string, LucideIcon> = { documents: BookOpenText, assistant: Wrench };
const iconOf = (agent: Agent) => icons[agent.name] ?? Bot;

/** Shows which agent wrote an answer. */
export function AgentName({ agent }: { agent: Agent }) {
  const Glyph = iconOf(agent);
  return (
    <p className="mb-1.5 flex items-center gap-1.5 text-xs font-medium text-muted">
      <Glyph aria-hidden className="size-3.5 shrink-0" /> {agentText(agent).label}
    </p>
  );
}

/** Chooses the agent of the next message. */
export function AgentMenu({ agents, value, onChange }: { agents: Agent[]; value: Agent; onChange: (name: string) => void }) {
  const Glyph = iconOf(value);
  const { label } = agentText(value);
  const trigger = (
    <button type="button" aria-label={words.composer.mode(label)} className="inline-flex h-9 min-w-0 items-center gap-1.5 rounded-lg px-2.5 text-sm max-sm:gap-1 max-sm:px-1 text-muted transition-colors hover:bg-sunken hover:text-ink pointer-coarse:h-11">
      <Glyph aria-hidden className="size-4 shrink-0" /> <span className="truncate">{label}</span> <ChevronDown aria-hidden className="size-3.5 shrink-0" />
    </button>
  );
  const options = agents.map((a) => ({ value: a.name, icon: iconOf(a), ...agentText(a) }));
  return (
    <Menu trigger={trigger} align="start" side="top">
      <MenuChoice label={words.composer.modes} value={value.name} options={options} onChange={onChange} />
    </Menu>
  );
}
