import { useQuery } from "@tanstack/react-query";
import { config, defaultConfig, type Config } from "./config";

/** The server's settings; until they are read, or when they cannot be, harmless defaults. */
export function useConfig(): Config {
  const { data } = useQuery({ queryKey: ["config"], queryFn: config, staleTime: Infinity });
  return data ?? defaultConfig;
}
