// A fake of Tavily's web search server.
import { createServer } from "node:http";

/** Returns the same pages, [{title, url, content}], for every query. */
export async function startWebSearch(results) {
  /** The queries so far. */
  const queries = [];
  const server = createServer(async (req, res) => {
    let raw = "";
    for await (const part of req) raw += part;
    queries.push(JSON.parse(raw).query);
    res.writeHead(200, { "Content-Type": "application/json" });
    res.end(JSON.stringify({ results: results.map((r) => ({ score: 0.9, ...r })) }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    queries,
    /** For startStack. */
    settings: { TAVILY_API_KEY: "key", TAVILY_BASE_URL: `http://127.0.0.1:${server.address().port}` },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
