import { words } from "../words";
import { sendFile } from "./upload";
import { errorText } from "./query";

/** A file on its way. */
export interface Upload {
  key: number;
  name: string;
  /** 0 to 1; null: it waits, or the server reads it. */
  progress: number | null;
  /** Why it was not uploaded, as a sentence that names the file. */
  error?: string;
}

const AT_ONCE = 3;

/** Files that are sent to the server, a few at a time. Components that show them subscribe. */
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

  /** Sends a file and resolves with the answer; with null when it was refused or taken back, which its item says. */
  async send<T>(path: string, file: File, most: number): Promise<T | null> {
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
      const answer = await sendFile<T>(path, file, { onProgress, signal: abort.signal });
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

  /** Names a file that is not sent at all, and why. */
  refuse(name: string, why: string): void {
    const key = ++this.last;
    this.set([...this.list, { key, name, progress: null, error: why }]);
  }

  /** Takes a file back, or its refusal off the page. */
  readonly dismiss = (key: number): void => {
    this.aborts.get(key)?.abort();
    this.set(this.list.filter((u) => u.key !== key));
  };

  /** Takes back all that is on its way. */
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
