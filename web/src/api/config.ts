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
  /** Whether the default model can see pictures. */
  vision: boolean;
  /** Whether what is attached to a message belongs to its chat, instead of the library. */
  chatAttachments: boolean;
  /** Whether files of Google Drive can be imported. */
  googleDrive: boolean;
  /** Largest upload, in bytes. */
  maxUpload: number;
  /** Longest message, in characters. */
  maxMessage: number;
  /** The models that people can choose; empty if there is no choice. */
  models: ModelChoice[];
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

/** Where people sign in: a Supabase project, an OpenID Connect provider, or both. */
export interface SignIn {
  /** Of the Supabase project; empty if there is none. */
  url: string;
  /** The project's publishable key. */
  key: string;
  /** Whether people can sign in with a link in an email. */
  link: boolean;
  password: boolean;
  /** Names of OAuth providers. */
  providers: string[];
  oidc?: OIDC;
}

/** An OpenID Connect provider. Its endpoints are empty while the server cannot reach it. */
export interface OIDC {
  issuer: string;
  clientId: string;
  scopes: string;
  /** Of the access tokens to send; empty: the server takes id tokens. */
  audience: string;
  nameClaim: string;
  emailClaim: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  endSessionEndpoint: string;
}

export interface ModelChoice {
  name: string;
  /** Whether it answers if nothing is chosen. */
  default: boolean;
  /** Whether it can see pictures. */
  vision: boolean;
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

export const defaultConfig: Config = { modelLabel: "", offline: false, webSearch: false, followUps: false, sharedLinks: false, vision: true, chatAttachments: false, googleDrive: true, maxUpload: 50 << 20, maxMessage: 32_000, models: [], agents: [], documentTypes: [], importSources: [], accountRequired: false };

type Raw = Record<string, unknown>;
const obj = (v: unknown): Raw => (typeof v === "object" && v !== null ? (v as Raw) : {});
const list = <T>(v: unknown): T[] => (Array.isArray(v) ? (v as T[]) : []);
const text = (v: unknown): string => (typeof v === "string" ? v : "");
const num = (v: unknown, or: number): number => (typeof v === "number" && v > 0 ? v : or);

export function readConfig(raw: unknown): Config {
  const top = obj(raw);
  const model = obj(top.model);
  const limits = obj(top.limits);
  const features = obj(top.features);
  return {
    modelLabel: text(model.label),
    offline: model.offline === true,
    webSearch: features.web_search === true,
    followUps: features.follow_ups === true,
    sharedLinks: features.shared_links === true,
    vision: model.vision !== false,
    chatAttachments: features.chat_attachments === true,
    googleDrive: features.google_drive !== false,
    maxUpload: num(limits.upload_bytes, defaultConfig.maxUpload),
    maxMessage: num(limits.message_chars, defaultConfig.maxMessage),
    models: list(top.models),
    agents: list(top.agents),
    documentTypes: list(top.document_types),
    importSources: list(top.import_sources),
    ...readSignIn(obj(top.auth)),
  };
}

function readSignIn(auth: Raw): Pick<Config, "signIn" | "accountRequired"> {
  const { url, key, methods, providers } = obj(auth.sign_in);
  const accountRequired = auth.mode === "required";
  const oidc = readOIDC(obj(auth.oidc));
  const supabase = typeof url === "string" && typeof key === "string";
  if (!supabase && !oidc) return { accountRequired };
  const ways = list<string>(methods);
  return { accountRequired, signIn: { url: text(url), key: text(key), link: ways.includes("link"), password: ways.includes("password"), providers: list<string>(providers), ...(oidc && { oidc }) } };
}

function readOIDC(raw: Raw): OIDC | undefined {
  if (!URL.canParse(text(raw.issuer)) || !text(raw.client_id)) return undefined;
  return {
    issuer: text(raw.issuer),
    clientId: text(raw.client_id),
    scopes: text(raw.scopes),
    audience: text(raw.audience),
    nameClaim: text(raw.name_claim),
    emailClaim: text(raw.email_claim),
    authorizationEndpoint: text(raw.authorization_endpoint),
    tokenEndpoint: text(raw.token_endpoint),
    endSessionEndpoint: text(raw.end_session_endpoint),
  };
}

/** Whether a model can see pictures; without one of the choice, the default model. */
export const seesPictures = ({ models, vision }: Config, model: string | undefined): boolean => models.find((m) => m.name === model)?.vision ?? vision;

export const config = async (): Promise<Config> => readConfig(await getJSON<unknown>("/api/config"));
