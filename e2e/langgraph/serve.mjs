// Serves the page at /chat/…, and forwards everything under /api to Palaver, so that both
// have one origin.
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("dist/", import.meta.url));
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8" };

export async function startPage(palaver) {
  const server = createServer((req, res) => {
    if (req.url.startsWith("/api/")) return pass(palaver, req, res);
    const file = req.url.startsWith("/assets/") ? req.url : "/index.html";
    readFile(path.join(DIST, path.normalize(file))).then(
      (data) => res.writeHead(200, { "Content-Type": TYPES[path.extname(file)] ?? "application/octet-stream" }).end(data),
      () => res.writeHead(404).end(),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function pass(palaver, req, res) {
  const onward = request(palaver + req.url, { method: req.method, headers: req.headers }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  onward.on("error", () => (res.headersSent ? res.destroy() : res.writeHead(502).end()));
  res.on("close", () => onward.destroy());
  req.pipe(onward);
}
