import { useQuery } from "@tanstack/react-query";
import { getJSON, request } from "../api/http";
import { errorText, refresh } from "../api/query";
import { toast } from "../ui/toast";
import { words } from "../words";

/** The user's account at another service. */
export interface Account {
  provider: string;
  account?: string;
  /** expired: the user must connect it again; narrow: doing so asks for more, which a call needs. */
  state: "connected" | "expired" | "narrow";
}

interface Accounts {
  items: Account[];
  /** The services whose accounts can be connected. */
  available: string[];
  /** The tool servers, if the server knows them. */
  servers?: { name: string; state: string; tools: number; notes?: Note[] }[];
}

/** What of a server's tools is not used. */
export interface Note {
  tool?: string;
  problem: string;
  left_out?: boolean;
}

/** A tool server, with the user's account there. */
export interface ToolServer {
  name: string;
  /** ok, down, starting or sign_in; undefined: unknown. */
  state: string | undefined;
  tools: number;
  notes: Note[];
  account: Account | undefined;
  /** The user can connect an account. */
  connectable: boolean;
}

const KEY = ["connections"];
const GOOGLE = "google";
const SERVER = "mcp:";

function useAccounts(): Accounts | undefined {
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJSON<Accounts>("/api/connections", { signal }), staleTime: 60_000 }).data;
}

/** The user's Google account; available tells whether this server can connect one. */
export function useGoogle(): { available: boolean; account: Account | undefined } {
  const data = useAccounts();
  return { available: data?.available.includes(GOOGLE) ?? false, account: data?.items.find((a) => a.provider === GOOGLE) };
}

/** The tool servers, and those at which the user has or can connect an account. */
export function useToolServers(): ToolServer[] {
  const data = useAccounts();
  return data ? toolServers(data) : [];
}

export function toolServers({ items, available, servers = [] }: Accounts): ToolServer[] {
  const others = [...available, ...items.map((a) => a.provider)].filter((p) => p.startsWith(SERVER)).map((p) => p.slice(SERVER.length));
  const names = new Set([...servers.map((s) => s.name), ...others]);
  return [...names].map((name) => {
    const known = servers.find((s) => s.name === name);
    return {
      name,
      state: known?.state,
      tools: known?.tools ?? 0,
      notes: known?.notes ?? [],
      account: items.find((a) => a.provider === SERVER + name),
      connectable: available.includes(SERVER + name),
    };
  });
}

/** The path of an account's connection. */
const pathOf = (server?: string) => `/api/connections/${server === undefined ? GOOGLE : `mcp/${encodeURIComponent(server)}`}`;

/** Opens the consent page of Google, or of a tool server, which returns to this conversation. */
export async function connect(server?: string): Promise<void> {
  try {
    const { url } = await getJSON<{ url: string }>(`${pathOf(server)}/start?return_to=${encodeURIComponent(location.pathname)}`);
    location.assign(url);
  } catch (err) {
    toast.error(errorText(err));
  }
}

export const connectGoogle = () => connect();

/** Disconnects the account at Google, or at a tool server. Returns whether the service confirmed that the access was revoked. */
export async function disconnect(server?: string): Promise<boolean> {
  const res = await request(pathOf(server), { method: "DELETE" });
  await refresh(KEY);
  return ((await res.json()) as { revoked: boolean }).revoked;
}

/** Shows a toast with the outcome when the user returns from the service. */
export function toastConnected(): void {
  const query = new URLSearchParams(location.search);
  const provider = query.get("connect");
  const server = provider?.startsWith(SERVER) ? provider.slice(SERVER.length) : undefined;
  if (provider !== GOOGLE && server === undefined) return;
  history.replaceState(history.state, "", location.pathname + location.hash);
  const code = query.get("connect_error");
  const { google, servers } = words.account;
  if (!code) return void toast(server === undefined ? google.connected : servers.connected(server));
  const problems: Readonly<Record<string, string>> = server === undefined ? google.problems : servers.problems;
  toast.error((Object.hasOwn(problems, code) && problems[code]) || problems.failed || "");
}
