export interface Detail {
  field: string;
  problem: string;
}

/** A request that the server refused, or that did not reach it (status 0). */
export class ApiError extends Error {
  readonly status: number;
  /** A code of docs/errors.md; "unreachable" if the server did not respond. */
  readonly code: string;
  /** Seconds to wait before another try, when the server says so. */
  readonly retryAfter: number;
  /** What is wrong with the request, by field. */
  readonly details: readonly Detail[];

  constructor(status: number, code: string, message: string, retryAfter = 0, details: readonly Detail[] = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
    this.details = details;
  }

  /** Whether a retry of the same request may succeed. */
  get transient(): boolean {
    return isTransient(this.status);
  }
}

export const isTransient = (status: number): boolean => [0, 408, 502, 503, 504].includes(status);

/** The error of a body {"error":{"code","message","details"}}, or of a status without one. */
export function errorOf(status: number, body: unknown, retryAfter: string | null): ApiError {
  const error = (body as { error?: { code?: unknown; message?: unknown; details?: unknown } } | null)?.error;
  const text = (v: unknown, or: string) => (typeof v === "string" && v ? v : or);
  return new ApiError(status, text(error?.code, ""), text(error?.message, `HTTP status ${status}`), Number(retryAfter) || 0, Array.isArray(error?.details) ? (error.details as Detail[]) : []);
}
