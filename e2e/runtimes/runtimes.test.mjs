// The client of clients/typescript in Node, Bun and a worker (workerd), against the running product.
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { rolldown } from "../../clients/typescript/node_modules/rolldown/dist/index.mjs";
import { afterEachEvent, startCutter } from "../clients/cutter.mjs";
import { startSlowModel } from "../slow-model.mjs";
import { freePort, startStack } from "../stack.mjs";

const at = (name) => fileURLToPath(new URL(name, import.meta.url));
const CLIENT = at("../../clients/typescript");
const PIECES = Array.from({ length: 8 }, (_, i) => `word${i} `);
const WHOLE = PIECES.join("").trim();

let model, stack, cutter, control, folder, given;
before(async () => {
  execFileSync("npm", ["run", "--silent", "build"], { cwd: CLIENT, stdio: "inherit" });
  mkdirSync(at("node_modules/@palaver"), { recursive: true });
  rmSync(at("node_modules/@palaver/client"), { force: true });
  symlinkSync(CLIENT, at("node_modules/@palaver/client"));
  folder = mkdtempSync(at("node_modules/.worker-"));
  model = await startSlowModel(PIECES, 5);
  stack = await startStack(model.settings);
  cutter = await startCutter(stack.url);
  control = createServer((req, res) => {
    model.hold = Number(req.url.slice(1));
    res.end();
  });
  await new Promise((resolve) => control.listen(0, "127.0.0.1", resolve));
});
beforeEach(async () => {
  Object.assign(cutter, { cut: afterEachEvent, cuts: 0 });
  const first = await fetch(`${stack.url}/api/me`);
  const [cookie] = first.headers.getSetCookie()[0].split(";");
  const made = await fetch(`${stack.url}/api/me/keys`, { method: "POST", headers: { cookie, "Content-Type": "application/json" }, body: JSON.stringify({ name: "program", days: 1 }) });
  given = { url: stack.url, cut: cutter.url, token: (await made.json()).key, hold: `http://127.0.0.1:${control.address().port}` };
});
after(async () => {
  control?.close();
  await cutter?.stop();
  await stack?.stop();
  await model?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

/** Runs the scenario in a program. */
async function run(program) {
  const { stdout } = await promisify(execFile)(program, [at("program.mjs"), JSON.stringify(given)]);
  return JSON.parse(stdout);
}

/** Runs the scenario in a worker without the modules of Node. */
async function runWorker() {
  const build = await rolldown({ input: at("worker.mjs"), platform: "neutral" });
  const { output } = await build.generate({ format: "esm" });
  await build.close();
  assert.equal(output.length, 1);
  assert.deepEqual(output[0].imports, []);
  writeFileSync(path.join(folder, "worker.js"), output[0].code);
  const port = await freePort();
  writeFileSync(
    path.join(folder, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker.js", esModule = embed "worker.js")], compatibilityDate = "2026-01-01", compatibilityFlags = ["no_nodejs_compat_v2"], globalOutbound = "network")),
    (name = "network", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`,
  );
  const worker = spawn(at("node_modules/.bin/workerd"), ["serve", "--control-fd=3", path.join(folder, "config.capnp")], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const ended = new Promise((resolve) => worker.once("close", resolve));
  try {
    await new Promise((resolve, reject) => {
      worker.stdio[3].on("data", (piece) => String(piece).includes('"listen"') && resolve());
      worker.once("exit", (code) => reject(new Error(`workerd ended with ${code}`)));
    });
    const res = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: JSON.stringify(given) });
    const text = await res.text();
    assert.equal(res.status, 200, text);
    return JSON.parse(text);
  } finally {
    worker.kill();
    await ended;
  }
}

describe("the client sends, attaches again after each event, and stops", () => {
  const expected = { detached: "detached", answer: WHOLE, pieces: PIECES.join(""), repeated: 0, stopped: ["stopped", "word0 word1 word2"], messages: ["When?", WHOLE, "And then?", "word0 word1 word2"] };

  for (const [name, program, more] of [
    ["Node", () => run(process.execPath), { runtime: "node" }],
    ["Bun", () => run(at("node_modules/.bin/bun")), { runtime: "bun" }],
    ["a worker", runWorker, { runtime: "Cloudflare-Workers", node: "undefined" }],
  ]) {
    it(`in ${name}`, async () => {
      assert.deepEqual(await program(), { ...more, ...expected });
      assert.ok(cutter.cuts >= 3, `${cutter.cuts} cuts`);
    });
  }
});
