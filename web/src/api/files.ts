import { useEffect, useState } from "react";
import { hasTokens } from "../session/token";
import { toast } from "../ui/toast";
import { request } from "./http";
import { errorText } from "./query";

/** Downloads a file with the account's token. Without a name, the file gets the one that the server sends. */
export async function download(path: string, name = ""): Promise<void> {
  try {
    const res = await request(path);
    const address = URL.createObjectURL(await res.blob());
    const link = document.createElement("a");
    link.href = address;
    link.download = name || (nameIn(res.headers.get("Content-Disposition")) ?? "");
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser starts to read it after the click
  } catch (err) {
    toast.error(errorText(err));
  }
}

/** The file name of a Content-Disposition header. */
export function nameIn(header: string | null): string | undefined {
  const wide = /filename\*=(?:UTF-8|utf-8)''([^;]+)/.exec(header ?? "")?.[1];
  if (wide) {
    try {
      return decodeURIComponent(wide);
    } catch {
      // Invalid encoding: use the plain name.
    }
  }
  return /filename="([^"]+)"/.exec(header ?? "")?.[1] ?? /filename=([^;" ]+)/.exec(header ?? "")?.[1];
}

/** The URL to show a picture of the server with: its own URL or, with an account, a blob URL of a copy that was fetched with the token. Undefined while it is fetched, null if that failed. */
export function useFile(path: string): string | undefined | null {
  const direct = !hasTokens() || !path.startsWith("/");
  const [copy, setCopy] = useState<string | null>();
  useEffect(() => {
    if (direct) return;
    const abort = new AbortController();
    let address = "";
    const read = async () => {
      const res = await request(path, { signal: abort.signal });
      address = URL.createObjectURL(await res.blob());
      if (abort.signal.aborted) URL.revokeObjectURL(address);
      else setCopy(address);
    };
    read().catch(() => !abort.signal.aborted && setCopy(null));
    return () => {
      abort.abort();
      if (address) URL.revokeObjectURL(address);
    };
  }, [direct, path]);
  return direct ? path : copy;
}
