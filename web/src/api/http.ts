/** A request that the server refused, or that never reached it (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Seconds to wait before another try, when the server says so. */
    readonly retryAfter = 0,
  ) {
    super(message);
  }

  /** Whether the same request may succeed a moment later. */
  get transient(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 502 || this.status === 503 || this.status === 504;
  }
}

export const unreachable = () => new ApiError(0, "unreachable", "The server cannot be reached. Check that it is running and that you are online.");

/** Reads {"error":{"code","message","details"}} and falls back to plain words by status. */
export async function errorOf(res: Response): Promise<ApiError> {
  let code = "";
  let message = "";
  try {
    const body = (await res.json()) as { error?: { code?: unknown; message?: unknown; details?: unknown } };
    if (typeof body.error?.code === "string") code = body.error.code;
    if (typeof body.error?.message === "string") message = res.status === 400 ? inWords(body.error.message, body.error.details) : body.error.message;
  } catch {
    // Not JSON: a proxy's page, never shown to a person.
  }
  return new ApiError(res.status, code, message || fallback(res.status), Number(res.headers.get("Retry-After")) || 0);
}

/** What a person can have done for a field to be refused. */
const gone: Record<string, string> = {
  tagged_doc_ids: "A document that is mentioned does not exist any more.",
  tagged_set_ids: "A set that is mentioned does not exist any more.",
  attachments: "A picture is not kept any longer. Please add it again.",
};

/** A refusal, and what it is about: the first field that it names says it. */
function inWords(message: string, details: unknown): string {
  const first: unknown = Array.isArray(details) ? details[0] : undefined;
  if (typeof first !== "object" || first === null || !("field" in first) || !("problem" in first)) return message;
  const field = String(first.field);
  return gone[field.split(".").at(-1)!] ?? `${message} (${field} ${String(first.problem)})`;
}

function fallback(status: number): string {
  if (status === 404) return "This was not found. It may have been deleted.";
  if (status === 429) return "That was a little fast. Please try again in a moment.";
  if (status === 413) return "This is too large.";
  if (status === 502 || status === 503 || status === 504) return "The server is not ready. Please try again in a moment.";
  return `The server answered with an error (${status}). Please try again.`;
}

export async function request(path: string, init?: RequestInit): Promise<Response> {
  let res: Response;
  try {
    res = await fetch(path, { credentials: "same-origin", ...init });
  } catch (err) {
    if (init?.signal?.aborted) throw err;
    throw unreachable();
  }
  if (!res.ok) throw await errorOf(res);
  return res;
}

export async function getJSON<T>(path: string, init?: RequestInit): Promise<T> {
  return (await (await request(path, init)).json()) as T;
}

export const post = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});
