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

  describe("the OAuth client of @modelcontextprotocol/sdk 1.32.2, which knows nothing but the address", () => {
    const REDIRECT = "http://127.0.0.1:1/callback"; // nobody listens: the test follows the browser's way itself
    let oidc, server, sdk;
    before(async () => {
      const page = `http://127.0.0.1:${await freePort()}`;
      oidc = await startOIDC(page);
      server = await startStack({ ...oidc.settings, AUTH_MODE: "required", OIDC_AUDIENCE: `palaver,${page}/mcp` });
      const read = (file) => import(installed(`@modelcontextprotocol/sdk/dist/esm/client/${file}.js`));
      sdk = { ...(await read("index")), ...(await read("auth")), ...(await read("streamableHttp")) };
    });
    after(async () => {
      await server?.stop();
      await oidc?.stop();
    });

    /** What a program keeps. client: what it has registered by hand. */
    function keeper(client) {
      const kept = { client };
      return {
        kept,
        redirectUrl: REDIRECT,
        clientMetadata: { client_name: "A program", redirect_uris: [REDIRECT], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], token_endpoint_auth_method: "none" },
        clientInformation: () => kept.client,
        saveClientInformation: (client) => void (kept.client = client),
        tokens: () => kept.tokens,
        saveTokens: (tokens) => void (kept.tokens = tokens),
        redirectToAuthorization: (url) => void (kept.place = url),
        saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
        codeVerifier: () => kept.verifier,
      };
    }

    /** Connects as a program does: is refused, signs the person in, connects again. */
    async function connect(authProvider) {
      const open = async () => {
        const client = new sdk.Client({ name: "a program", version: "1" });
        const transport = new sdk.StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider });
        return { client, transport, refused: await client.connect(transport).then(() => undefined, (err) => err) };
      };
      const first = await open();
      assert.ok(first.refused instanceof sdk.UnauthorizedError, String(first.refused));
      const back = await oidc.allow(authProvider.kept.place);
      assert.equal(`${back.origin}${back.pathname}`, REDIRECT);
      await first.transport.finishAuth(back.searchParams.get("code"));
      return open();
    }

    const audience = (tokens) => JSON.parse(Buffer.from(tokens.access_token.split(".")[1], "base64url")).aud;

    for (const [kind, found] of Object.entries({ "RFC 8414": ["oauth-authorization-server"], "OpenID Connect only": ["oauth-authorization-server", "openid-configuration"] })) {
      it(`finds the provider by its metadata of ${kind}, registers itself, and gets a token for this server only`, async () => {
        Object.assign(oidc, { asked: [], openIDOnly: found.length > 1 });
        const authProvider = keeper();
        const { client, refused } = await connect(authProvider);
        assert.equal(refused, undefined);
        const { kept } = authProvider;
        assert.equal(kept.place.searchParams.get("resource"), `${server.url}/mcp`);
        assert.equal(kept.place.searchParams.get("code_challenge_method"), "S256");
        assert.equal(audience(kept.tokens), `${server.url}/mcp`);
        assert.equal((await client.listTools()).tools.length, 5);
        await client.close();
        const asked = oidc.asked.filter((a) => /well-known|reg$|token$/.test(a));
        assert.deepEqual([...new Set(asked)], [...found.map((name) => `GET /.well-known/${name}`), "POST /reg", "POST /token"]);
      });
    }

    it("may be registered by hand; its token is renewed, and one for another server is refused", async () => {
      const made = await fetch(`${oidc.url}/reg`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(keeper().clientMetadata) });
      const registered = await made.json();
      const elsewhere = keeper(registered);
      elsewhere.validateResourceURL = async () => new URL("https://other.example.com/mcp");
      assert.match(String((await connect(elsewhere)).refused), /401/); // also after a renewal
      const here = keeper(registered);
      const { client, refused } = await connect(here);
      assert.equal(refused, undefined);
      assert.equal(here.kept.client.client_id, registered.client_id);
      const { access_token } = here.kept.tokens;
      here.kept.tokens.access_token = elsewhere.kept.tokens.access_token;
      assert.equal(audience(here.kept.tokens), "https://other.example.com/mcp");
      assert.equal((await client.listTools()).tools.length, 5, "the refused token is renewed without a browser");
      assert.equal(audience(here.kept.tokens), `${server.url}/mcp`);
      assert.notEqual(here.kept.tokens.access_token, access_token);
      await client.close();
    });

    it("the metadata are found at both places that RFC 9728 and clients know", async () => {
      const { status, headers } = await fetch(`${server.url}/mcp`, { method: "POST", body: "{}" });
      assert.equal(status, 401);
      const params = sdk.extractWWWAuthenticateParams({ headers });
      assert.equal(String(params.resourceMetadataUrl), `${server.url}/.well-known/oauth-protected-resource/mcp`);
      const metadata = await sdk.discoverOAuthProtectedResourceMetadata(`${server.url}/mcp`); // by the path alone
      assert.equal(metadata.resource, `${server.url}/mcp`);
      assert.deepEqual(metadata.authorization_servers, [oidc.url]);
      assert.deepEqual(metadata.bearer_methods_supported ?? ["header"], ["header"]);
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
