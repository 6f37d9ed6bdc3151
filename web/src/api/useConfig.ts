import { useQuery } from "@tanstack/react-query";
import { config, defaultConfig, type Config } from "./config";
import { queries } from "./query";

const settings = { queryKey: ["config"], queryFn: config, staleTime: Infinity };

/** The server's settings; defaults until they are loaded, or when loading fails. */
export function useConfig(): Config {
  const { data } = useQuery(settings);
  return data ?? defaultConfig;
}

/** Loads the settings before the page is drawn; defaults when that fails. */
export const readSettings = (): Promise<Config> => queries.fetchQuery({ ...settings, retry: false }).catch(() => defaultConfig);
