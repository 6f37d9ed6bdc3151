import { BookOpenText, Bot, ChevronDown, Cpu, Wrench, type LucideIcon } from "lucide-react";
import type { Agent, ModelChoice } from "../api/config";
import { Menu, MenuChoice, MenuLine } from "../ui/Menu";
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

interface Props {
  agents: Agent[];
  agent: Agent;
  onAgent: (name: string) => void;
  /** Empty: there is no choice of models. */
  models: ModelChoice[];
  model: ModelChoice | undefined;
  onModel: (name: string) => void;
}

/** Chooses the agent and the model of the next message. */
export function AnswererMenu({ agents, agent, onAgent, models, model, onModel }: Props) {
  const Glyph = iconOf(agent);
  const { label, short } = agentText(agent);
  const chooses = models.length > 1 && model !== undefined;
  const trigger = (
    <button
      type="button"
      title={chooses ? model.name : undefined}
      className="inline-flex h-9 min-w-0 items-center gap-1.5 rounded-lg px-2.5 text-sm max-sm:gap-1 max-sm:px-1 text-muted transition-colors hover:bg-sunken hover:text-ink pointer-coarse:h-11"
    >
      <Glyph aria-hidden className="size-4 shrink-0 min-[24rem]:max-[27rem]:hidden" />
      <span className="sr-only">{chooses ? words.composer.modeAndModel : words.composer.modes}: </span>
      <span className="truncate max-sm:hidden">{label}</span>
      <span className="truncate max-[24rem]:sr-only sm:hidden">{short ?? label}</span>
      {chooses && <span className="truncate max-sm:sr-only">· {model.name}</span>}
      <ChevronDown aria-hidden className="size-3.5 shrink-0" />
    </button>
  );
  return (
    <Menu trigger={trigger} align="start" side="top">
      <MenuChoice label={words.composer.modes} value={agent.name} options={agents.map((a) => ({ value: a.name, icon: iconOf(a), ...agentText(a) }))} onChange={onAgent} />
      {chooses && (
        <>
          <MenuLine />
          <MenuChoice label={words.composer.models} titled value={model.name} options={models.map((m) => ({ value: m.name, label: m.name, icon: Cpu, ...(m.default && { detail: words.composer.defaultModel }) }))} onChange={onModel} />
        </>
      )}
    </Menu>
  );
}
