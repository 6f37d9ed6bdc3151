// MCP's own tools: a real server whose calls people decide on, and real clients of Palaver's server.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { after, before, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startOIDC } from "../oidc.mjs";
import { freePort, startStack } from "../stack.mjs";
import { startModel } from "./model.mjs";
import { eventually, person } from "./sdk.mjs";

const run = promisify(execFile);
const installed = (path) => fileURLToPath(new URL(`../../tools/mcp/testservers/node_modules/${path}`, import.meta.url));
const EVERYTHING = installed("@modelcontextprotocol/server-everything/dist/index.js");

describe("@modelcontextprotocol/server-everything 2026.8.31, with a person's decisions", () => {
  let stack, model, who;
  before(async () => {
    model = await startModel();
    const server = { name: "every", transport: "stdio", command: [process.execPath, EVERYTHING, "stdio"], approve: "edit" };
    stack = await startStack({ LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "scripted", FOLLOWUPS: "off", MCP_SERVERS: JSON.stringify([server]) });
    who = person(stack.url);
    await eventually(async () => (await who.call("GET", "/api/connections")).body.servers?.some((s) => s.name === "every" && s.state === "ok" && s.tools > 5), "the server's tools");
  });
  after(async () => {
    await stack?.stop();
    await model?.stop();
  });
  beforeEach(() => (who = person(stack.url)));

  /** Sends a request, and returns the events of its stream. */
  async function events(path, body) {
    const res = await who.fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
    const said = await res.text();
    assert.equal(res.status, 200, said);
    return said.split("\n").filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
  }

  /** Lets the model call a tool; returns the question about the call. */
  async function ask(name, args) {
    model.says({ calls: [{ name: `every__${name}`, args }] }, { say: ["That is all."] });
    const asked = (await events("/api/chat", { agent: "assistant", message: "Use the tool." })).at(-1);
    assert.equal(asked.type, "interrupt");
    assert.equal(asked.interrupt_type, "tool_approval");
    assert.deepEqual(asked.tool_calls[0].arguments, args);
    return asked;
  }

  /** Decides on the call; returns its result. */
  async function decide(asked, decision) {
    const decisions = [{ id: asked.tool_calls[0].id, ...decision }];
    const rest = await events("/api/chat/resume", { thread_id: who.thread, interrupt_id: asked.interrupt_id, resume_value: { type: "tool_approval", value: null, decisions } });
    assert.equal(rest.at(-1).type, "response");
    assert.equal(rest.at(-1).response, "That is all.");
    const results = rest.filter((e) => e.type === "tool_result");
    assert.equal(results.length, 1);
    return results[0];
  }

  it("an approved call runs as it was shown", async () => {
    const result = await decide(await ask("get-sum", { a: 2, b: 40 }), { decision: "approved" });
    assert.equal(result.is_error, false);
    assert.match(result.content, /42/);
  });

  it("a declined call does not run, and the model reads the reason", async () => {
    const result = await decide(await ask("get-sum", { a: 2, b: 40 }), { decision: "rejected", reason: "I count myself." });
    assert.equal(result.is_error, true);
    assert.doesNotMatch(result.content, /42/);
    assert.match(model.asked.at(-1), /I count myself\./);
  });

  it("an edited call runs with the person's arguments; wrong ones are refused by the server's own schema", async () => {
    const asked = await ask("get-sum", { a: 2, b: 40 });
    const wrong = { type: "tool_approval", value: null, decisions: [{ id: asked.tool_calls[0].id, decision: "approved", arguments: { a: "two", b: 5 } }] };
    const refused = await who.call("POST", "/api/chat/resume", { thread_id: who.thread, interrupt_id: asked.interrupt_id, resume_value: wrong });
    assert.equal(refused.status, 400);
    assert.equal(refused.body.error.details[0].field, "resume_value.decisions[0].arguments.a");
    const result = await decide(asked, { decision: "approved", arguments: { a: 2, b: 5 } });
    assert.equal(result.is_error, false);
    assert.match(result.content, /\b7\b/);
    assert.doesNotMatch(result.content, /42/);
  });
});

describe("clients of Palaver's MCP server", () => {
  let stack, who, key;
  before(async () => {
    stack = await startStack({});
    who = person(stack.url);
    key = (await who.call("POST", "/api/me/keys", { name: "mcp" })).body.key;
    const doc = await who.call("POST", "/api/documents", { title: "Lighthouse notes", text: "The lighthouse keeper winds the clock every evening at seven." });
    await eventually(async () => (await who.call("GET", `/api/documents/${doc.body.id}`)).body.status === "ready", "the document");
  });
  after(() => stack?.stop());

  describe("@modelcontextprotocol/inspector 2.12.0, command line", () => {
    const inspect = async (...args) => {
      const cli = installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
      const { stdout } = await run(installed(".bin/node"), [cli, "--cli", `${stack.url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${key}`, ...args]); // it needs Node 22
      return JSON.parse(stdout);
    };
    const call = (tool, ...args) => inspect("--method", "tools/call", "--tool-name", tool, ...args.flatMap((a) => ["--tool-arg", a]));

    it("lists the tools", async () => {
      const { tools } = await inspect("--method", "tools/list");
      assert.deepEqual(tools.map((t) => t.name).sort(), ["ask", "import_document", "list_documents", "list_imports", "search_documents"]);
    });

    it("calls tools", async () => {
      const asked = await call("ask", "message=When does the lighthouse keeper wind the clock?");
      assert.match(asked.structuredContent.answer, /every evening at seven/);
      const found = await call("search_documents", "query=lighthouse keeper");
      assert.match(found.content[0].text, /winds the clock/);
      assert.match((await call("list_documents")).content[0].text, /Lighthouse notes/);
      assert.ok((await call("list_imports")).content);
    });
  });

  describe("@modelcontextprotocol/inspector 2.12.0, where people have an OpenID Connect provider", () => {
    let oidc, server;
    before(async () => {
      oidc = await startOIDC(`http://127.0.0.1:${await freePort()}`);
      server = await startStack(oidc.settings);
    });
    after(async () => {
      await server?.stop();
      await oidc?.stop();
    });
    const list = (...headers) => {
      const cli = installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
      return run(installed(".bin/node"), [cli, "--cli", `${server.url}/mcp`, "--transport", "http", ...headers.flatMap((h) => ["--header", h]), "--method", "tools/list"], { timeout: 60_000 });
    };

    it("a request without a token learns the provider; one with the provider's token is answered", async () => {
      const refused = await fetch(`${server.url}/mcp`, { method: "POST", body: "{}" });
      assert.equal(refused.status, 401);
      const [, metadata] = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate"));
      assert.deepEqual((await (await fetch(metadata)).json()).authorization_servers, [oidc.url]);
      for (const headers of [[], ["Authorization: Bearer forged"]]) await assert.rejects(list(...headers), /auth_required/); // it wants a browser to sign in
      const { tools } = JSON.parse((await list(`Authorization: Bearer ${await oidc.token()}`)).stdout);
      assert.equal(tools.length, 5);
    });
  });

  // The other scenarios need tools, resources and prompts of the suite's own server.
  describe("@modelcontextprotocol/conformance 0.1.16, as for any server", () => {
    for (const scenario of ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]) {
      it(scenario, async () => {
        const suite = installed("@modelcontextprotocol/conformance/dist/index.js");
        const { stdout } = await run(installed(".bin/node"), [suite, "server", "--url", `${stack.url}/mcp`, "--scenario", scenario], { cwd: tmpdir() }); // it writes its results there
        assert.match(stdout, /Passed: ([1-9])\/\1, 0 failed/);
      });
    }
  });
});
