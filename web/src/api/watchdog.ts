/** The server pings every 15 s, so this much silence means a dead connection. */
export const SILENCE_MS = 30_000;

/** Aborts a request that no byte has come for in a while, or that is given up. */
export class Watchdog {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** It was the silence that aborted. */
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

  /** Whether the request was given up from outside. */
  get givenUp(): boolean {
    return this.outer?.aborted ?? false;
  }

  /** A byte has come. */
  touch(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.silent = true;
      this.controller.abort();
    }, this.ms);
  }

  /** The request is over. */
  end(): void {
    clearTimeout(this.timer);
    this.outer?.removeEventListener("abort", this.forward);
  }
}
