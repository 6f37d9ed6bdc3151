/**
 * The target of a link, to show before a person follows it: a web address's host, spelled as in the browser's address
 * bar, or a mail address. Empty for links within this site.
 */
export function hostOf(href: string, here: string): string {
  const url = parse(href, here);
  if (!url || url.origin === parse(here)?.origin) return "";
  return url.host || decoded(url.pathname);
}

/** Whether a link's text already shows its target: it is the URL or the host. */
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
