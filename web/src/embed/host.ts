import type { Tokens } from "../session/token";

type Message = { type?: unknown; id?: unknown; token?: unknown };

/** How long the page around the frame may take to give a token. */
const TOKEN_MS = 20_000;

/** The page around this frame (public/embed.js). Messages pass in both directions only if it is of the origin. */
export class Host {
  private readonly waiting = new Map<number, (token: string | undefined) => void>();
  private asked = 0;
  /** Called when the panel was opened. */
  onFocus = () => {};

  constructor(
    private readonly origin: string,
    private readonly around: Pick<Window, "postMessage"> = window.parent,
    private readonly timeout = TOKEN_MS,
  ) {}

  readonly hear = ({ source, origin, data }: Pick<MessageEvent, "source" | "origin" | "data">): void => {
    if (source !== this.around || origin !== this.origin || (data as { palaver?: unknown } | null)?.palaver !== 1) return;
    const { type, id, token } = data as Message;
    if (type === "focus") this.onFocus();
    if (type !== "token" || typeof id !== "number") return;
    this.waiting.get(id)?.(typeof token === "string" && token ? token : undefined);
    this.waiting.delete(id);
  };

  /** Closes the panel. */
  close(): void {
    this.tell({ type: "close" });
  }

  /** Asks the page for a token. Rejects when it has none, or does not answer. */
  token(): Promise<string> {
    const id = ++this.asked;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => done(undefined), this.timeout);
      const done = (token: string | undefined) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        if (token) resolve(token);
        else reject(new Error("The page gave no token."));
      };
      this.waiting.set(id, done);
      this.tell({ type: "token", id });
    });
  }

  private tell(message: Message): void {
    this.around.postMessage({ palaver: 1, ...message }, this.origin);
  }
}

/** The tokens of the page around the frame. One is kept until the server refuses it. Without such tokens the person is anonymous. */
export function tokensOf(host: Host | undefined): Tokens {
  let newest: string | undefined;
  let asking: Promise<string> | undefined;
  const ask = () => (asking ??= host!.token().then((token) => (newest = token)).finally(() => (asking = undefined)));
  return {
    current: async () => (host ? (newest ?? ask()) : undefined),
    renew: async (refused) => (host ? (newest === refused ? ask() : newest) : undefined),
    newest: () => newest,
  };
}
