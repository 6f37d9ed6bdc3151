import type { ImportSource } from "../imports/links";
import { getJSON } from "./http";

/** The server's settings that the page needs. */
export interface Config {
  modelLabel: string;
  offline: boolean;
  webSearch: boolean;
  /** Whether follow-up questions are suggested below answers. */
  followUps: boolean;
  /** Whether chats can be shared by links. */
  sharedLinks: boolean;
  /** Largest upload, in bytes. */
  maxUpload: number;
  /** Longest message, in characters. */
  maxMessage: number;
  /** The agents; the first is the default. */
  agents: Agent[];
  /** The document formats that can be uploaded. */
  documentTypes: DocumentType[];
  /** The sources of imports that this server adds. */
  importSources: ImportSource[];
  /** How people sign in; undefined if this server has no sign-in. */
  signIn?: SignIn;
  /** Whether an account is needed to use anything. */
  accountRequired: boolean;
}

/** The Supabase project where people sign in. */
export interface SignIn {
  url: string;
  /** The project's publishable key. */
  key: string;
  /** Whether people can sign in with a link in an email. */
  link: boolean;
  password: boolean;
  /** Names of OAuth providers. */
  providers: string[];
}

export interface Agent {
  name: string;
  label: string;
  description: string;
}

export interface DocumentType {
  label: string;
  extensions: string[];
}

export const defaultConfig: Config = { modelLabel: "", offline: false, webSearch: false, followUps: false, sharedLinks: false, maxUpload: 50 << 20, maxMessage: 32_000, agents: [], documentTypes: [], importSources: [], accountRequired: false };

type Raw = Record<string, unknown>;
const obj = (v: unknown): Raw => (typeof v === "object" && v !== null ? (v as Raw) : {});
const list = <T>(v: unknown): T[] => (Array.isArray(v) ? (v as T[]) : []);
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
    followUps: features.follow_ups === true,
    sharedLinks: features.shared_links === true,
    maxUpload: num(limits.upload_bytes, defaultConfig.maxUpload),
    maxMessage: num(limits.message_chars, defaultConfig.maxMessage),
    agents: list(top.agents),
    documentTypes: list(top.document_types),
    importSources: list(top.import_sources),
    ...readSignIn(obj(top.auth)),
  };
}

function readSignIn(auth: Raw): Pick<Config, "signIn" | "accountRequired"> {
  const { url, key, methods, providers } = obj(auth.sign_in);
  const accountRequired = auth.mode === "required";
  if (typeof url !== "string" || typeof key !== "string") return { accountRequired };
  const ways = list<string>(methods);
  return { accountRequired, signIn: { url, key, link: ways.includes("link"), password: ways.includes("password"), providers: list<string>(providers) } };
}

export const config = async (): Promise<Config> => readConfig(await getJSON<unknown>("/api/config"));
