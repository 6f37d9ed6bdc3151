import { useCallback, useEffect, useState } from "react";
import { isUUID } from "../lib/id";

/** What the address names: a conversation, its printed form or a board by its id; without one the welcome page or the list of boards. */
export interface Place {
  page: "chat" | "discovery" | "print";
  id: string | null;
}

/** The place of a path; null when it is none of the page's. */
export function placeOf(path: string): Place | null {
  if (path === "/") return { page: "chat", id: null };
  const [, page, id] = /^\/(chat|discovery|print)(?:\/([^/]+))?\/?$/.exec(path) ?? [];
  if (page === "discovery" && id === undefined) return { page, id: null };
  return page && id && isUUID(id) ? { page: page as Place["page"], id: id.toLowerCase() } : null;
}

const pathOf = ({ page, id }: Place): string => (id ? `/${page}/${id}` : page === "chat" ? "/" : "/discovery");

type How = "push" | "replace";
export type Visit = (to: Place, how?: How) => void;
/** Goes to a conversation, or to the welcome page (null). */
export type Go = (id: string | null, how?: How) => void;

/** Where the page is (null: at an address that is none of the page's), and a way to go elsewhere. */
export function useRoute(): [Place | null, Visit] {
  const [place, setPlace] = useState(() => placeOf(location.pathname));
  useEffect(() => {
    const onPop = () => setPlace(placeOf(location.pathname));
    window.addEventListener("popstate", onPop);
    return () => window.removeEventListener("popstate", onPop);
  }, []);
  const visit = useCallback<Visit>((to, how = "push") => {
    const path = pathOf(to);
    if (location.pathname !== path) history[how === "push" ? "pushState" : "replaceState"](null, "", path);
    setPlace(to);
  }, []);
  return [place, visit];
}
