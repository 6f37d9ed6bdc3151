import { ApiError, errorOf } from "./errors.ts";
import { SILENCE_MS } from "./watchdog.ts";

/** A bearer token or personal key, or what returns the current one. Without a token, the page's own cookie counts. */
export type Token = string | (() => string | undefined | Promise<string | undefined>);

export interface ClientOptions {
  /** The address of the installation, such as https://chat.example.com. Default: that of the page. */
  baseUrl?: string;
  token?: Token;
  /** Another fetch, for instance with a proxy. */
  fetch?: typeof fetch;
  /** The delays before retries, in ms; the last one repeats. */
  backoff?: readonly number[];
  /** How many tries in a row may fail before a stream is given up. */
  retries?: number;
  /** How long a stream may be silent, in ms. */
  silence?: number;
}

const BACKOFF_MS = [400, 1_000, 2_000, 4_000, 8_000];
const RETRIES = 40;

/** Sends requests with the token. */
export class Http {
  readonly backoff: readonly number[];
  readonly retries: number;
  readonly silence: number;
  private readonly base: string;
  private readonly token: Token | undefined;
  private readonly send: typeof fetch;

  constructor(options: ClientOptions) {
    this.base = (options.baseUrl ?? "").replace(/\/+$/, "");
    this.token = options.token;
    this.send = options.fetch ?? ((input, init) => fetch(input, init));
    this.backoff = options.backoff ?? BACKOFF_MS;
    this.retries = options.retries ?? RETRIES;
    this.silence = options.silence ?? SILENCE_MS;
  }

  url(path: string): string {
    return this.base + path;
  }

  /** The token for the next request. A function that fails is like a network that fails. */
  async current(): Promise<string | undefined> {
    if (typeof this.token !== "function") return this.token;
    try {
      return await this.token();
    } catch (err) {
      throw new ApiError(0, "no_token", err instanceof Error ? err.message : String(err));
    }
  }

  /** Sends what needs a token. After a 401 it is sent once more if there is another token. */
  async authorized<T extends { status: number }>(send: (token: string | undefined) => Promise<T>): Promise<T> {
    const token = await this.current();
    const res = await send(token);
    if (res.status !== 401 || typeof this.token !== "function") return res;
    const other = await this.current();
    return other && other !== token ? send(other) : res;
  }

  /** A response of any status. Rejects if there is none. */
  async raw(path: string, init: RequestInit = {}): Promise<Response> {
    return this.authorized(async (token) => {
      const headers = new Headers(init.headers);
      if (token) headers.set("Authorization", `Bearer ${token}`);
      try {
        return await this.send(this.url(path), { ...init, headers });
      } catch (err) {
        if (init.signal?.aborted) throw err;
        throw new ApiError(0, "unreachable", err instanceof Error ? err.message : String(err));
      }
    });
  }

  /** A successful response; rejects with an ApiError. */
  async request(path: string, init?: RequestInit): Promise<Response> {
    const res = await this.raw(path, init);
    if (res.ok) return res;
    throw errorOf(res.status, await res.json().catch(() => null), res.headers.get("Retry-After"));
  }

  /** Sends JSON and reads JSON; undefined for a response without a body. */
  async json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    const res = await this.request(path, { ...withBody(method, body), ...(signal && { signal }) });
    return (res.status === 204 ? undefined : await res.json()) as T;
  }
}

export const withBody = (method: string, body?: unknown): RequestInit =>
  body === undefined ? { method } : { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };

/** The query of the values that are set, with its question mark. */
export function query(values: Record<string, string | number | boolean | readonly string[] | undefined>): string {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) all.append(name, String(one));
  }
  return all.size > 0 ? `?${all}` : "";
}

/** A UUID, also where crypto.randomUUID is missing: on pages without TLS. */
export function newId(): string {
  if (globalThis.crypto.randomUUID) return globalThis.crypto.randomUUID();
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return [...bytes].map((b, i) => ([4, 6, 8, 10].includes(i) ? "-" : "") + b.toString(16).padStart(2, "0")).join("");
}
