// A proxy that cuts event streams.
import { createServer, request } from "node:http";

/**
 * Forwards everything to target. cut(text, n) says, of the nth connection of a stream with this
 * text so far, after how many characters it is cut; undefined: not yet.
 */
export async function startCutter(target) {
  const { hostname, port } = new URL(target);
  const cutter = { cut: () => undefined, cuts: 0, streams: [], refuse: 0, freeze: false };
  const server = createServer((req, res) => {
    if (cutter.refuse > 0) return cutter.refuse--, req.socket.destroy();
    const up = request({ host: hostname, port, path: req.url, method: req.method, headers: { ...req.headers, host: `${hostname}:${port}`, "accept-encoding": "identity" } }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      res.flushHeaders();
      const streams = answer.headers["content-type"]?.startsWith("text/event-stream");
      const nth = streams ? cutter.streams.push(`${req.method} ${req.url}`) : 0;
      let text = "";
      answer.setEncoding("latin1");
      answer.on("data", (piece) => {
        if (res.destroyed || cutter.freeze) return;
        const before = text.length;
        text += piece;
        const at = streams ? cutter.cut(text, nth) : undefined;
        res.write(Buffer.from(text.slice(before, at), "latin1"));
        if (at === undefined) return;
        cutter.cuts++;
        up.destroy();
        res.write("", () => res.destroy());
      });
      answer.on("end", () => cutter.freeze || res.end());
      answer.on("error", () => res.destroy());
    });
    up.on("error", () => res.destroy());
    res.on("close", () => up.destroy());
    req.pipe(up);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  cutter.url = `http://127.0.0.1:${server.address().port}`;
  cutter.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return cutter;
}

/** Cuts after each event, but for a stream's comments. */
export const afterEachEvent = (text) => afterEvents(text, 1);

/** Cuts the first stream after one event, the second after two, and so on: for streams that are replayed from the start. */
export const afterMoreEvents = (text, nth) => afterEvents(text, nth);

function afterEvents(text, count) {
  for (let at = 0; ; ) {
    const end = text.indexOf("\n\n", at);
    if (end < 0) return undefined;
    if (text.slice(at, end).includes("data:") && --count === 0) return end + 2;
    at = end + 2;
  }
}

/** Cuts each stream inside of an event, after more characters each time. */
export const insideEvents = (step) => (text, nth) => (text.length > nth * step ? nth * step : undefined);
