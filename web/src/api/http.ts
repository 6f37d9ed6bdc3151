import { authorized, withToken } from "../session/token";
import { words } from "../words";
import { worded } from "../words/wire";
import type { Coded } from "./coded";
import { besideFor, forSpace, inSpace, noteStatus } from "./space";

export interface Detail extends Coded {
  field: string;
  problem: string;
}

/** A request that the server refused, or that did not reach it (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds to wait before another try, when the server says so. */
    readonly retryAfter = 0,
    /** What is wrong with the request, by field. */
    readonly details: readonly Detail[] = [],
  ) {
    super(message);
  }

  /** Whether a retry of the same request may succeed. */
  get transient(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

export const unreachable = () => new ApiError(0, "unreachable", words.problems.checkConnection);

/** Reads {"error":{"code","message","message_code","details"}}; without it, the status gives the message. */
export async function errorOf(res: Response): Promise<ApiError> {
  let code = "";
  let message = "";
  let details: Detail[] = [];
  try {
    const body = (await res.json()) as { error?: Coded & { code?: unknown; message?: unknown; details?: unknown } };
    if (typeof body.error?.code === "string") code = body.error.code;
    if (typeof body.error?.message === "string") message = worded(body.error, body.error.message);
    details = detailsOf(body.error?.details);
    if (res.status === 400) message = fieldProblem(message, details[0]);
  } catch {
    // Not JSON: a proxy's page, which is never shown.
  }
  return new ApiError(res.status, code, message || fallback(res.status), Number(res.headers.get("Retry-After")) || 0, details);
}

/** The problem of the first field in an error's details. */
function fieldProblem(message: string, first: Detail | undefined): string {
  if (!first) return message;
  if (/^resume\.resume_value\.decisions\[\d+\]\.arguments\./.test(first.field)) return words.tools.fields.check;
  return worded(first, `${message} (${first.field} ${first.problem})`);
}

const detailsOf = (raw: unknown): Detail[] =>
  (Array.isArray(raw) ? raw : []).flatMap((d: unknown) => (typeof d === "object" && d !== null && "field" in d && "problem" in d ? [{ ...(d as Coded), field: String(d.field), problem: String(d.problem) }] : []));

function fallback(status: number): string {
  if (status === 404) return words.texts["request.not_found"];
  if (status === 429) return words.problems.tooMany;
  if (status === 413) return words.problems.tooLarge;
  if (status === 502 || status === 503 || status === 504) return words.problems.notReady;
  return words.problems.status(status);
}

/** Marks a request as coming from this page. Without TLS, browsers send no Sec-Fetch-Site. */
export function fromPage(headers?: HeadersInit): Headers {
  const all = new Headers(headers);
  all.set("X-Palaver-Page", "1");
  return all;
}

export async function request(path: string, init?: RequestInit): Promise<Response> {
  const headers = inSpace(path, fromPage(init?.headers));
  const send = (headers: Headers) => authorized((token) => fetch(path, { credentials: "same-origin", ...init, headers: withToken(headers, token) }));
  let res: Response;
  try {
    res = await send(headers);
    for (const space of res.status === 404 ? besideFor(path, init?.method) : []) {
      const there = await send(forSpace(space, headers));
      if (there.ok) return there;
    }
  } catch (err) {
    if (init?.signal?.aborted || err instanceof ApiError) throw err;
    throw unreachable();
  }
  if (res.ok) return res;
  noteStatus(res.status, headers);
  throw await errorOf(res);
}

export async function getJSON<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await request(path, init)).json()) as T;
}

export const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
