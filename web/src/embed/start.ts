import { config } from "../api/config";
import { getJSON } from "../api/http";
import { queries } from "../api/query";
import { readSettings } from "../api/useConfig";
import { setFrame, setTokens } from "../session/token";
import { loadLanguage } from "../words";
import { Host, tokensOf } from "./host";
import { show, type Look } from "./look";

export interface Started {
  look: Look;
  host: Host;
  /** Why there is no chat. */
  problem?: "cookies" | "sign-in";
}

/** Prepares the page for a frame: whose it is, in whose name requests are sent, and with which agent. */
export async function start(look: Look): Promise<Started> {
  show(look);
  const host = new Host(look.origin);
  addEventListener("message", host.hear);
  setFrame(look.origin);
  setTokens(tokensOf(look.givesTokens ? host : undefined));
  const [settings] = await Promise.all([readSettings(), loadLanguage(look.language ? [look.language] : navigator.languages)]);
  const agents = settings.agents.filter((a) => a.name === look.agent);
  if (agents.length > 0) queries.setQueryData<Awaited<ReturnType<typeof config>>>(["config"], { ...settings, agents });
  if (look.givesTokens) return { look, host };
  if (settings.accountRequired) return { look, host, problem: "sign-in" };
  return { look, host, ...((await keepsCookies()) ? {} : { problem: "cookies" as const }) };
}

/** Whether the browser keeps the cookie of an anonymous person in this frame. A server that cannot be reached says nothing about it. */
async function keepsCookies(): Promise<boolean> {
  try {
    const [first, second] = [await me(), await me()];
    return first.id === second.id;
  } catch {
    return true;
  }
}

const me = () => getJSON<{ id: string }>("/api/me");
