/** The access tokens of the signed-in account. */
export interface Tokens {
  /** The token to send, refreshed if it is about to expire; undefined without an account. Rejects when it cannot be refreshed now. */
  current(): Promise<string | undefined>;
  /** A new token after the server has refused one; undefined if there is none. */
  renew(refused: string): Promise<string | undefined>;
  /** The newest token, which may have expired: for requests that cannot wait. */
  newest(): string | undefined;
}

let tokens: Tokens | undefined;

/** Sets the tokens that all requests send; undefined means no account. */
export function setTokens(source: Tokens | undefined): void {
  tokens = source;
}

/** The value of the Authorization header for a token. */
const bearer = (token: string): string => ["Bearer", token].join(" ");

let frame: string | undefined;

/** Says in all requests that this page is in a frame of another origin: cookies are others there. */
export function setFrame(origin: string): void {
  frame = origin;
}

/** Returns a copy of the headers with what says who sends the request: the token, if there is one, and the origin around the frame. */
export function withToken(headers: HeadersInit | undefined, token: string | undefined): Headers {
  const all = new Headers(headers);
  if (frame) all.set("X-Palaver-Frame", frame);
  if (token) all.set("Authorization", bearer(token));
  return all;
}

/** Sends a request with the account's token. Retries it once with a new token if the server responds with 401. */
export async function authorized<T extends { status: number }>(send: (token: string | undefined) => Promise<T>): Promise<T> {
  const token = await tokens?.current();
  const res = await send(token);
  if (res.status !== 401 || !token) return res;
  const renewed = await tokens?.renew(token);
  return renewed ? send(renewed) : res;
}

/** Whether requests send tokens. */
export const hasTokens = (): boolean => tokens !== undefined;

/** The newest token, which may have expired: for requests while the page unloads. */
export const newestToken = (): string | undefined => tokens?.newest();
