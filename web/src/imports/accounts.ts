import { useQuery } from "@tanstack/react-query";
import { getJSON, request } from "../api/http";
import { errorText, refresh } from "../api/query";
import { toast } from "../ui/toast";
import { words } from "../words";

/** The user's account at another service. */
export interface Account {
  provider: string;
  account?: string;
  /** expired: the user must connect it again. */
  state: "connected" | "expired";
}

interface Accounts {
  items: Account[];
  /** The services whose accounts can be connected. */
  available: string[];
}

const KEY = ["connections"];
const GOOGLE = "google";

/** The user's Google account; available tells whether this server can connect one. */
export function useGoogle(): { available: boolean; account: Account | undefined } {
  const { data } = useQuery({ queryKey: KEY, queryFn: ({ signal }) => getJSON<Accounts>("/api/connections", { signal }), staleTime: 60_000 });
  return { available: data?.available.includes(GOOGLE) ?? false, account: data?.items.find((a) => a.provider === GOOGLE) };
}

/** Opens Google's consent page, which returns to this conversation. */
export async function connectGoogle(): Promise<void> {
  try {
    const { url } = await getJSON<{ url: string }>(`/api/connections/google/start?return_to=${encodeURIComponent(location.pathname)}`);
    location.assign(url);
  } catch (err) {
    toast.error(errorText(err));
  }
}

/** Disconnects the Google account. Returns whether Google confirmed that the access was revoked. */
export async function disconnectGoogle(): Promise<boolean> {
  const res = await request("/api/connections/google", { method: "DELETE" });
  await refresh(KEY);
  return ((await res.json()) as { revoked: boolean }).revoked;
}

/** Shows a toast with the outcome when the user returns from Google. */
export function toastConnected(): void {
  const query = new URLSearchParams(location.search);
  if (query.get("connect") !== GOOGLE) return;
  history.replaceState(history.state, "", location.pathname + location.hash);
  const code = query.get("connect_error");
  if (!code) return toast(words.account.google.connected);
  const problems: Readonly<Record<string, string>> = words.account.google.problems;
  toast.error((Object.hasOwn(problems, code) && problems[code]) || words.account.google.problems.failed);
}
