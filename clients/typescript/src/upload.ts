import { ApiError, errorOf } from "./errors.ts";
import type { Http } from "./http.ts";

export interface UploadOptions {
  /** Called with the share that was sent, 0 to 1. Where XMLHttpRequest is missing (Node, service workers), only with 0 and 1. */
  onProgress?: (share: number) => void;
  signal?: AbortSignal;
}

/** Posts a file as the part "file" of a form. */
export async function upload<T>(http: Http, path: string, file: File, fields: Record<string, string | undefined>, options: UploadOptions): Promise<T> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, value);
  form.append("file", file, file.name);
  options.onProgress?.(0);
  if (options.onProgress && typeof XMLHttpRequest !== "undefined") {
    const xhr = await http.authorized((token) => send(http.url(path), form, token, options));
    if (xhr.status >= 300) throw errorOf(xhr.status, xhr.response, xhr.getResponseHeader("Retry-After"));
    return xhr.response as T;
  }
  const res = await http.request(path, { method: "POST", body: form, ...(options.signal && { signal: options.signal }) });
  options.onProgress?.(1);
  return (await res.json()) as T;
}

/** fetch reports no progress of uploads. */
function send(url: string, form: FormData, token: string | undefined, { onProgress, signal }: UploadOptions): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open("POST", url);
    if (token) xhr.setRequestHeader("Authorization", `Bearer ${token}`);
    xhr.responseType = "json";
    xhr.upload.onprogress = (e) => e.lengthComputable && onProgress?.(e.loaded / e.total);
    xhr.onload = () => resolve(xhr);
    xhr.onerror = () => reject(new ApiError(0, "unreachable", "The upload failed."));
    xhr.onabort = () => reject(signal?.reason as Error);
    signal?.addEventListener("abort", () => xhr.abort(), { once: true });
    xhr.send(form);
  });
}
