import { useCallback, useEffect, useState } from "react";
import { currentSpace, setSpace, spaceIn } from "../api/space";
import { isUUID } from "../lib/id";

/** The page of a URL. id is the id of a thread or a board, or the token of a shared copy; null means the welcome page or the list of boards. */
export interface Place {
  page: "chat" | "discovery" | "print" | "s" | "admin";
  id: string | null;
  /** The name that another client has given a thread, whose id is not known yet. */
  name?: string;
  /** The space of a chat or a board; absent: that of the page, and empty: none. Shared copies are in no space. */
  space?: string;
}

/** The place of a path; null if the path is unknown. */
export function placeOf(path: string): Place | null {
  if (path === "/" || path === "/chat" || path === "/chat/") return { page: "chat", id: null };
  if (/^\/admin\/?$/.test(path)) return { page: "admin", id: null };
  const token = /^\/s\/([A-Za-z0-9]{1,100})\/?$/.exec(path)?.[1];
  if (token) return { page: "s", id: token };
  const [, page, id] = /^\/(chat|discovery|print)(?:\/([^/]+))?\/?$/.exec(path) ?? [];
  if (page === "discovery" && id === undefined) return { page, id: null };
  if (page && id && isUUID(id)) return { page: page as Place["page"], id: id.toLowerCase() };
  return page === "chat" && id && /^[\w.:-]{1,128}$/.test(id) ? { page, id: null, name: id } : null;
}

const pathOf = ({ page, id }: Place): string => (id ? `/${page}/${id}` : page === "chat" ? "/" : `/${page}`);

/** The address of a chat, or of the start of a new one (null). */
export const chatAddress = (id: string | null, space = currentSpace()): string => pathOf({ page: "chat", id }) + (space && `?space=${space}`);

/** The address of a board of the page's space, or of their list (null). */
export const boardAddress = (id: string | null): string => pathOf({ page: "discovery", id }) + (currentSpace() && `?space=${currentSpace()}`);

type How = "push" | "replace";
export type Visit = (to: Place, how?: How) => void;
/** Opens a thread or a board by its id; null opens the welcome page or the list of boards. */
export type Go = (id: string | null, how?: How) => void;

/** Returns the current place (null if the URL is unknown), and a function to navigate. */
export function useRoute(): [Place | null, Visit] {
  const [place, setPlace] = useState(() => placeOf(location.pathname));
  useEffect(() => {
    const onPop = () => {
      setSpace(spaceIn(location));
      setPlace(placeOf(location.pathname));
    };
    window.addEventListener("popstate", onPop);
    return () => window.removeEventListener("popstate", onPop);
  }, []);
  const visit = useCallback<Visit>((to, how = "push") => {
    if (to.page !== "chat" && to.page !== "discovery") setSpace("");
    else if (to.space !== undefined) setSpace(to.space);
    const address = to.page === "chat" ? chatAddress(to.id) : to.page === "discovery" ? boardAddress(to.id) : pathOf(to);
    const shown = spaceIn(location);
    if (location.pathname + (shown && `?space=${shown}`) !== address) history[how === "push" ? "pushState" : "replaceState"](null, "", address);
    setPlace(to);
  }, []);
  return [place, visit];
}
