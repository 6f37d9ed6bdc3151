import type { Agent } from "../api/config";
import { words } from "../words";
import { option } from "../words/wire";

/** The label and description of an agent; the server's texts for an agent that the page does not know. */
export function agentText({ name, label, description }: Agent): { label: string; short?: string; detail: string } {
  const known: Readonly<Record<string, { label: string; short?: string; detail: string }>> = words.composer.agents;
  return (Object.hasOwn(known, name) && known[name]) || { label, detail: description };
}

/** The label of a mention on the page. The server gets the mention's own label. */
export function mentionLabel({ category, id, label }: { category: string; id: string; label: string }): string {
  if (category === "web") return words.composer.webSearch;
  return category === "action" ? option({ label, message_code: `option.${id}` }) : label;
}
