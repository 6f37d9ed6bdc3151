import type { Watchdog } from "./watchdog.ts";

export interface SSEMessage {
  data: string;
  id?: string;
}

/**
 * Splits a text/event-stream into messages. Feed it chunks of any size: an
 * incomplete message is kept until its blank line arrives, and dropped if the
 * stream ends before that. Comment lines and unknown fields are ignored.
 */
export class SSEParser {
  private rest = "";
  private data: string[] = [];
  private id: string | undefined;

  push(piece: string): SSEMessage[] {
    const out: SSEMessage[] = [];
    this.rest += piece;
    let from = 0;
    for (;;) {
      const end = nextBreak(this.rest, from);
      if (end === null) break;
      this.line(this.rest.slice(from, end.at), out);
      from = end.next;
    }
    this.rest = this.rest.slice(from);
    return out;
  }

  private line(line: string, out: SSEMessage[]): void {
    if (line === "") {
      if (this.data.length > 0) {
        const message: SSEMessage = { data: this.data.join("\n") };
        if (this.id !== undefined) message.id = this.id;
        out.push(message);
      }
      this.data = [];
      this.id = undefined;
      return;
    }
    if (line.startsWith(":")) return;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.data.push(value);
    else if (field === "id") this.id = value;
  }
}

/** A line ends at \n, \r\n or \r. A \r at the end of the buffer may be the first half of \r\n. */
function nextBreak(text: string, from: number): { at: number; next: number } | null {
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 10) return { at: i, next: i + 1 };
    if (c === 13) {
      if (i + 1 === text.length) return null;
      return { at: i, next: text.charCodeAt(i + 1) === 10 ? i + 2 : i + 1 };
    }
  }
  return null;
}

/** The messages of an event stream. */
export async function* messages(body: ReadableStream<Uint8Array>, watch: Watchdog): AsyncGenerator<SSEMessage> {
  const parser = new SSEParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.touch();
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
