import { authorized, withToken } from "../session/token";
import { words } from "../words";
import { worded } from "../words/wire";
import type { Coded } from "./coded";
import { ApiError, unreachable } from "./http";
import { inSpace } from "./space";

interface Options {
  /** How much has been sent, 0 to 1. */
  onProgress: (share: number) => void;
  signal: AbortSignal;
  /** More fields of the form. */
  fields?: Record<string, string> | undefined;
}

/** Posts a file as the part "file". Uses XMLHttpRequest, since fetch reports no upload progress. */
export async function sendFile<T>(path: string, file: File, options: Options): Promise<T> {
  const headers = inSpace(path);
  const xhr = await authorized((token) => send(path, file, withToken(headers, token), options));
  if (xhr.status >= 300) throw refusalOf(xhr);
  return xhr.response as T;
}

function send(path: string, file: File, headers: Headers, { onProgress, signal, fields = {} }: Options): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", file, file.name);
    xhr.open("POST", path);
    headers.forEach((value, name) => xhr.setRequestHeader(name, value));
    xhr.responseType = "json";
    xhr.upload.onprogress = (e) => e.lengthComputable && onProgress(e.loaded / e.total);
    xhr.onload = () => resolve(xhr);
    xhr.onerror = () => reject(unreachable());
    xhr.onabort = () => reject(new DOMException("aborted", "AbortError"));
    signal.addEventListener("abort", () => xhr.abort(), { once: true });
    xhr.send(form);
  });
}

function refusalOf(xhr: XMLHttpRequest): ApiError {
  const error = (xhr.response as { error?: Coded & { code?: unknown; message?: unknown } } | null)?.error;
  const text = (v: unknown, or: string) => (typeof v === "string" && v ? v : or);
  const code = text(error?.code, "");
  return new ApiError(xhr.status, code, worded(error ?? {}, text(error?.message, words.problems.uploadFailed)));
}
