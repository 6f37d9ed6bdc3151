// An MCP server (JSON-RPC over POST) whose tools the tests define.
import { createServer } from "node:http";

/**
 * Starts a server with these tools, in the format of tools/list. run(name, args) returns
 * the text of a call's result. calls has the calls so far, as {name, args}.
 */
export async function startMCPServer(tools, run) {
  const calls = [];
  const server = createServer(async (req, res) => {
    let raw = "";
    for await (const part of req) raw += part;
    let asked;
    try {
      asked = JSON.parse(raw);
    } catch {
      return res.writeHead(400).end(); // a request that its client gave up, or a GET
    }
    const { id, method, params } = asked;
    const answer = (result) => {
      res.writeHead(200, { "Content-Type": "application/json" });
      res.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    if (method === "tools/list") return answer({ tools });
    calls.push({ name: params.name, args: params.arguments });
    answer({ content: [{ type: "text", text: await run(params.name, params.arguments) }] });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    calls,
    url: `http://127.0.0.1:${server.address().port}/`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the settings of a stack that uses the server under a name. A person may edit its calls before approving them. */
export const mcpSettings = (name, { url }) => ({
  MCP_SERVERS: JSON.stringify([{ name, transport: "rpc", url, approve: "edit" }]),
  ALLOW_PRIVATE_ADDRESSES: "127.0.0.0/8",
});
