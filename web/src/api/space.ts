import { useSyncExternalStore } from "react";
import { isUUID } from "../lib/id";

// The space in which this page works: its conversations, documents and boards are those of the
// space. It is in the address (?space=), so that a reload, a link and a second tab keep it.

/** The space of an address; empty if it names none, or if its page is in no space. */
export function spaceIn({ pathname, search }: Pick<Location, "pathname" | "search">): string {
  const id = new URLSearchParams(search).get("space") ?? "";
  return isUUID(id) && /^\/(?:$|chat|print|discovery)/.test(pathname) ? id.toLowerCase() : "";
}

let current = typeof location === "undefined" ? "" : spaceIn(location);
const listeners = new Set<() => void>();

/** The id of the space; empty: the person's own conversations and documents. */
export const currentSpace = (): string => current;

export function setSpace(id: string): void {
  if (id === current) return;
  current = id;
  for (const changed of listeners) changed();
}

const subscribe = (changed: () => void) => {
  listeners.add(changed);
  return () => listeners.delete(changed);
};

export const useSpaceId = (): string => useSyncExternalStore(subscribe, currentSpace);

/** The name of what the browser keeps for the next new chat, which is another one in each space. */
export const newIn = (name: string): string => (current ? `${name} ${current}` : name);

/** The routes that work in a space. The server refuses the header elsewhere. */
const IN_SPACES = /^\/api\/(?:conversations|batch\/conversations|search|documents(?!\/[^/]+\/reimport)|document-sets|discoveries|ui\/chat|chat|attachments)(?:[/?]|$)/;

const HEADER = "X-Space-Id";

/** Returns a copy of a request's headers that names the space of the page, if its route works in one. Headers of forSpace stay as they are. */
export function inSpace(path: string, headers?: HeadersInit): Headers {
  const all = new Headers(headers);
  if (!all.has(HEADER) && IN_SPACES.test(path)) all.set(HEADER, current);
  if (all.get(HEADER) === "") all.delete(HEADER);
  return all;
}

/** Returns a copy of the headers with which a request works in a space, or in none (""), also after the page has gone to another one. */
export function forSpace(space: string, headers?: HeadersInit): Headers {
  const all = new Headers(headers);
  all.set(HEADER, space);
  return all;
}

let refused = (): void => {};

/** Sets what is called when the server may have refused the space of the page. */
export const onRefused = (check: () => void): void => void (refused = check);

let beside: readonly string[] = [];

/** Sets the spaces whose documents the chat on the page may cite, although the page is in no space. */
export const setBeside = (ids: readonly string[]): void => void (beside = ids);

/** The spaces in which a document may be that the page, which is in no space, has not found. */
export const besideFor = (path: string, method = "GET"): readonly string[] => (current === "" && method === "GET" && /^\/api\/documents\/[^/?]/.test(path) ? beside : []);

/** Notes the status of a request's answer: the person may no longer be a member. */
export function noteStatus(status: number, headers: Headers): void {
  if ((status === 403 || status === 404) && current !== "" && headers.get(HEADER) === current) refused();
}

/** Notes that a stream has ended because the person is no longer a member. */
export const noteLeft = (): void => void (current !== "" && refused());
