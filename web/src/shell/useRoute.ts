import { useCallback, useEffect, useState } from "react";
import { isUUID } from "../lib/id";

const threadOf = (path: string): string | null => {
  const id = /^\/chat\/([^/]+)\/?$/.exec(path)?.[1] ?? "";
  return isUUID(id) ? id.toLowerCase() : null;
};

export type Go = (id: string | null, how?: "push" | "replace") => void;

/** The thread id in the address (none: the welcome page), and a way to go to another. */
export function useRoute(): [string | null, Go] {
  const [id, setId] = useState(() => threadOf(location.pathname));
  useEffect(() => {
    const onPop = () => setId(threadOf(location.pathname));
    window.addEventListener("popstate", onPop);
    return () => window.removeEventListener("popstate", onPop);
  }, []);
  const go = useCallback<Go>((next, how = "push") => {
    const path = next ? `/chat/${next}` : "/";
    if (location.pathname !== path) history[how === "push" ? "pushState" : "replaceState"](null, "", path);
    setId(next);
  }, []);
  return [id, go];
}
