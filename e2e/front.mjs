// A proxy between the browser and the server that a test can cut.
import { createServer, request } from "node:http";

/** Forwards everything to target without buffering. */
export async function startFront(target) {
  const { hostname, port } = new URL(target);
  const open = new Set();
  let down = false;
  let frozen = false;
  const seen = [];
  const server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    if (down) return req.socket.destroy();
    const up = request({ host: hostname, port, path: req.url, method: req.method, headers: { ...req.headers, host: `${hostname}:${port}` } }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      res.flushHeaders();
      answer.on("data", (piece) => frozen || res.write(piece));
      answer.on("end", () => res.end());
      answer.on("error", () => res.destroy());
    });
    open.add(req.socket);
    up.on("error", () => res.destroy());
    res.on("close", () => {
      up.destroy();
      open.delete(req.socket);
    });
    req.pipe(up);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** The requests so far. */
    seen,
    /** Closes every connection and rejects new ones. */
    cut() {
      down = true;
      for (const socket of open) socket.destroy();
    },
    /** Keeps connections open but forwards no response data. */
    freeze: () => (frozen = true),
    restore() {
      down = frozen = false;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
