import { useQuery } from "@tanstack/react-query";
import { config, defaultConfig, type Config } from "./config";

/** The server's settings; defaults until they are loaded, or when loading fails. */
export function useConfig(): Config {
  const { data } = useQuery({ queryKey: ["config"], queryFn: config, staleTime: Infinity });
  return data ?? defaultConfig;
}
