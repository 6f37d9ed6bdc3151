/** The server pings every 15 s, so a longer silence means that the connection is dead. */
export const SILENCE_MS = 30_000;

/** Aborts a request when no byte arrives for a while, or when its caller aborts it. */
export class Watchdog {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private touched = 0;
  private readonly ms: number;
  private readonly outer: AbortSignal | undefined;
  /** Whether the silence aborted the request. */
  silent = false;

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.ms = ms;
    this.outer = outer;
    if (outer?.aborted) this.controller.abort();
    outer?.addEventListener("abort", this.forward);
    this.touch();
  }

  private readonly forward = () => this.controller.abort();

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether the caller aborted the request. */
  get abortedByCaller(): boolean {
    return this.outer?.aborted ?? false;
  }

  /** To be called for each byte that arrives. */
  touch(): void {
    this.touched = Date.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.giveUp(), this.ms);
  }

  /** To be called when the machine or the page wakes: timers do not run while it sleeps. */
  check(): void {
    if (Date.now() - this.touched > this.ms) this.giveUp();
  }

  /** Aborts the request as if it had been silent. */
  giveUp(): void {
    this.silent = true;
    this.controller.abort();
  }

  /** To be called when the request has ended. */
  end(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener("abort", this.forward);
  }
}
