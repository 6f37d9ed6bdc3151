import { useEffect, useState } from "react";
import { config, defaultConfig, type Config } from "../api/config";

/** The server's settings; until they are read, or when they cannot be, harmless defaults. */
export function useConfig(): Config {
  const [value, setValue] = useState(defaultConfig);
  useEffect(() => void config().then(setValue, () => undefined), []);
  return value;
}
