/**
 * Where a link leads, for a person to read before they follow it: the host of an address of the web, in the letters
 * that the browser's address bar has, or the address of a mail. Empty for a link within the page's own site.
 */
export function hostOf(href: string, here: string): string {
  const url = parse(href, here);
  if (!url || url.origin === parse(here)?.origin) return "";
  return url.host || decoded(url.pathname);
}

/** Whether a link's own text says where it leads: it is the address, or the host alone. */
export function namesHost(text: string, host: string): boolean {
  const said = text.trim().toLowerCase();
  return said === host || parse(said)?.host === host || decoded(parse(said)?.pathname ?? "") === host;
}

function parse(href: string, base?: string): URL | undefined {
  try {
    return new URL(href, base);
  } catch {
    return undefined;
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
