import { words } from "../words";
import { sendFile } from "./upload";
import { errorText } from "./query";

/** A file that is being uploaded. */
export interface Upload {
  key: number;
  name: string;
  /** 0 to 1; null while it waits in the queue or the server processes it. */
  progress: number | null;
  /** Why the upload failed, as a sentence that names the file. */
  error?: string;
}

const AT_ONCE = 3;

/** A queue of uploads. Several run at the same time. Components subscribe to it. */
export class Uploads {
  private list: readonly Upload[] = [];
  private readonly listeners = new Set<() => void>();
  private readonly waiting: (() => void)[] = [];
  private readonly aborts = new Map<number, AbortController>();
  private running = 0;
  private last = 0;

  readonly items = (): readonly Upload[] => this.list;

  readonly subscribe = (changed: () => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  /** Uploads a file and resolves with the response, or with null when the upload failed or was removed; its item has the reason. */
  async send<T>(path: string, file: File, most: number, fields?: Record<string, string> | undefined): Promise<T | null> {
    const key = ++this.last;
    this.set([...this.list, { key, name: file.name, progress: null }]);
    if (file.size === 0) return this.fail(key, words.library.empty(file.name));
    if (file.size > most) return this.fail(key, words.library.tooLarge(file.name, Math.floor(most / (1 << 20))));
    const abort = new AbortController();
    this.aborts.set(key, abort);
    if (this.running >= AT_ONCE) await new Promise<void>((go) => this.waiting.push(go));
    this.running++;
    try {
      abort.signal.throwIfAborted();
      const onProgress = (share: number) => this.update(key, { progress: share < 1 ? share : null });
      const answer = await sendFile<T>(path, file, { onProgress, signal: abort.signal, fields });
      this.dismiss(key);
      return answer;
    } catch (err) {
      if (err instanceof DOMException && err.name === "AbortError") this.dismiss(key);
      else this.fail(key, words.library.uploadFailed(file.name, errorText(err)));
      return null;
    } finally {
      this.aborts.delete(key);
      this.running--;
      this.waiting.shift()?.();
    }
  }

  /** Adds a file that is not uploaded, with the reason. */
  refuse(name: string, why: string): void {
    const key = ++this.last;
    this.set([...this.list, { key, name, progress: null, error: why }]);
  }

  /** Cancels an upload, or removes a failed one from the list. */
  readonly dismiss = (key: number): void => {
    this.aborts.get(key)?.abort();
    this.set(this.list.filter((u) => u.key !== key));
  };

  /** Cancels all uploads that are running. */
  abort(): void {
    for (const abort of this.aborts.values()) abort.abort();
  }

  private fail(key: number, error: string): null {
    this.update(key, { error, progress: null });
    return null;
  }

  private update(key: number, change: Partial<Upload>) {
    this.set(this.list.map((u) => (u.key === key ? { ...u, ...change } : u)));
  }

  private set(list: readonly Upload[]) {
    this.list = list;
    for (const changed of this.listeners) changed();
  }
}
