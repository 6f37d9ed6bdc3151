// Finds links in a message by the server's rules (imports/links), so that the chips show what the server
// will import.

/** A source of imports that the server's program adds. */
export interface ImportSource {
  type: string;
  label: string;
  /** Prefixes of its links without the scheme. */
  links: string[];
}

let added: readonly ImportSource[] = [];

/** Sets the added sources. The page does so before it is drawn. */
export function setImportSources(sources: readonly ImportSource[]) {
  added = sources;
}

/** The label of an added source; undefined for other types of sources. */
export const sourceLabel = (type: string): string | undefined => added.find((s) => s.type === type)?.label;

export const addedSources = (): readonly ImportSource[] => added;

export type LinkKind = "drive" | "doc" | "sheet" | "slides" | "web";

export interface FoundLink {
  /** The link as written in the message. */
  text: string;
  /** null for a Google Drive link that points to no file. */
  kind: LinkKind | null;
  /** Identifies the target: all forms of a link have the same key. */
  key: string;
  host: string;
  /** The name of an added source. */
  label?: string;
}

const IN_TEXT = /(?:\bhttps?:\/\/|\b(?:drive|docs)\.google\.com\/)[^\s<>"“”]+/gi;
const DRIVE_HOSTS = ["drive.google.com", "docs.google.com", "drive.usercontent.google.com"];
const FILE_ID = /^[A-Za-z0-9_-]{10,128}$/;
const WITH_QUERY = ["open", "uc", "download", "thumbnail"];
const KINDS: Readonly<Record<string, LinkKind>> = { file: "drive", document: "doc", spreadsheets: "sheet", presentation: "slides", drawings: "drive" };
const MOST = 2048;

/** The links of a message in order, without duplicates. */
export function findLinks(message: string): FoundLink[] {
  const found = new Map<string, FoundLink>();
  for (const [raw] of message.matchAll(IN_TEXT)) {
    const link = readLink(trimmed(raw));
    if (link && !found.has(link.key)) found.set(link.key, link);
  }
  return [...found.values()];
}

/** Parses one link; null if it cannot be imported. */
export function readLink(text: string): FoundLink | null {
  let url = parse(text);
  const target = url && behindRedirect(url);
  if (target) url = parse(target);
  if (!url) return null;
  const { host } = url;
  if (isDrive(url)) {
    const { id, kind } = driveFile(url);
    return FILE_ID.test(id) ? { text, kind, key: `drive:${id}`, host } : { text, kind: null, key: text, host };
  }
  const address = url.host + url.pathname;
  const source = added.find((s) => s.links.some((prefix) => address.startsWith(prefix)));
  if (source) return { text, kind: "web", key: url.href, host, label: source.label };
  return url.protocol === "https:" ? { text, kind: "web", key: url.href, host } : null;
}

/** Trims punctuation and brackets that belong to the sentence. */
function trimmed(link: string): string {
  for (;;) {
    const last = link.at(-1) ?? "";
    const opening = { ")": "(", "]": "[", "}": "{" }[last];
    const unbalanced = opening !== undefined && link.split(opening).length < link.split(last).length;
    if (!unbalanced && !/[.,;:!?'*_~|]/.test(last)) return link;
    link = link.slice(0, -1);
  }
}

function parse(text: string): URL | null {
  if (text.length > MOST) return null;
  const url = URL.parse(/^(drive|docs)\.google\.com\//i.test(text) ? `https://${text}` : text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return null;
  url.hash = "";
  return url;
}

/** Unwraps https://www.google.com/url?q=…, which Google documents and mails put around links. */
const behindRedirect = (url: URL): string | null => (/^(www\.)?google\.com$/.test(url.host) && url.pathname === "/url" ? (url.searchParams.get("q") ?? url.searchParams.get("url")) : null);

function isDrive(url: URL): boolean {
  const path = segments(url);
  return DRIVE_HOSTS.includes(url.host) && path[0] !== "forms" && !(path.length > 2 && path[1] === "d" && path[2] === "e");
}

function driveFile(url: URL): { id: string; kind: LinkKind } {
  const [first = "", second, id = ""] = segments(url);
  if (second === undefined && WITH_QUERY.includes(first)) return { id: url.searchParams.get("id") ?? "", kind: "drive" };
  const kind = Object.hasOwn(KINDS, first) ? KINDS[first] : undefined;
  return kind && second === "d" ? { id, kind } : { id: "", kind: "drive" };
}

/** The path without the parts that select an account or a company. */
function segments(url: URL): string[] {
  let path = url.pathname.split("/").filter(Boolean);
  if (path.length > 2 && path[0] === "a") path = path.slice(2);
  const u = path.slice(0, 2).findIndex((part, i) => part === "u" && /^\d+$/.test(path[i + 1] ?? ""));
  return u < 0 ? path : path.toSpliced(u, 2);
}
