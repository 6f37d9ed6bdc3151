import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { getJSON } from "../api/http";
import { useSpaceId } from "../api/space";
import { useMe } from "../shell/me";
import { words } from "../words";
import { spacePath } from "./spaces";

interface Person {
  id: string;
  name: string;
}

const STALE_MS = 60_000;
const SHORT = 12;
const FORGOTTEN = "-"; // stands for somebody whose account was deleted

/** Returns a function that names people of the page's space: as their tokens do, else by the beginning of their id. */
export function usePeople(): (id: string) => string {
  const space = useSpaceId();
  const me = useMe()?.id;
  const { data } = useQuery({ queryKey: ["spaces", space, "people"], queryFn: async ({ signal }) => (await getJSON<{ items: Person[] | null }>(`${spacePath(space)}/people`, { signal })).items ?? [], enabled: space !== "", staleTime: STALE_MS });
  return useCallback(
    (id: string) => {
      if (id === FORGOTTEN) return words.spaces.formerMember;
      const name = data?.find((p) => p.id === id)?.name ?? (id.length > SHORT ? `${id.slice(0, SHORT)}…` : id);
      return id === me ? words.spaces.you(name) : name;
    },
    [data, me],
  );
}
