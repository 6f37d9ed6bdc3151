/** The server pings every 15 s, so a longer silence means that the connection is dead. */
export const SILENCE_MS = 30_000;

/** Aborts a request when no byte arrives for a while, or when its caller aborts it. */
export class Watchdog {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the silence aborted the request. */
  silent = false;

  constructor(
    private readonly ms: number,
    private readonly outer: AbortSignal | undefined,
  ) {
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
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.silent = true;
      this.controller.abort();
    }, this.ms);
  }

  /** To be called when the request has ended. */
  end(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener("abort", this.forward);
  }
}
