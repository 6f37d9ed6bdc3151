import { useCallback, useEffect, useState } from "react";
import { isUUID } from "../lib/id";

const threadOf = (path: string): string | null => {
  const id = /^\/chat\/([^/]+)\/?$/.exec(path)?.[1] ?? "";
  return isUUID(id) ? id.toLowerCase() : null;
};

/** The thread id in the address, and a way to go to another. */
export function useRoute(): [string | null, (id: string | null) => void] {
  const [id, setId] = useState(() => threadOf(location.pathname));
  useEffect(() => {
    const onPop = () => setId(threadOf(location.pathname));
    window.addEventListener("popstate", onPop);
    return () => window.removeEventListener("popstate", onPop);
  }, []);
  const go = useCallback((next: string | null) => {
    const path = next ? `/chat/${next}` : "/";
    if (location.pathname !== path) history.pushState(null, "", path);
    setId(next);
  }, []);
  return [id, go];
}
