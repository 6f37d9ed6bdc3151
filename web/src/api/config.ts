import { getJSON } from "./http";

/** What the page shows of the server's settings. */
export interface Config {
  modelLabel: string;
  offline: boolean;
  webSearch: boolean;
  /** Largest upload, in bytes. */
  maxUpload: number;
  /** Longest message, in characters. */
  maxMessage: number;
}

export const defaultConfig: Config = { modelLabel: "", offline: false, webSearch: false, maxUpload: 50 << 20, maxMessage: 32_000 };

type Raw = Record<string, unknown>;
const obj = (v: unknown): Raw => (typeof v === "object" && v !== null ? (v as Raw) : {});
const num = (v: unknown, or: number): number => (typeof v === "number" && v > 0 ? v : or);

export function readConfig(raw: unknown): Config {
  const top = obj(raw);
  const model = obj(top.model);
  const limits = obj(top.limits);
  const features = obj(top.features);
  return {
    modelLabel: typeof model.label === "string" ? model.label : "",
    offline: model.offline === true,
    webSearch: features.web_search === true,
    maxUpload: num(limits.upload_bytes, defaultConfig.maxUpload),
    maxMessage: num(limits.message_chars, defaultConfig.maxMessage),
  };
}

export const config = async (): Promise<Config> => readConfig(await getJSON<unknown>("/api/config"));
