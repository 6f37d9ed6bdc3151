// The running product: the one-process binary on free ports with its own data
// folder, or, for tests without settings, the server at PALAVER_URL.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const BINARY = process.env.PALAVER_BINARY || fileURLToPath(new URL("../bin/palaver-standalone", import.meta.url));
const START_MS = 60_000;
const STOP_MS = 15_000;

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Starts the product. Without settings it uses the offline engine. A setting named "--name" becomes a flag. */
export async function startStack(settings) {
  const { PALAVER_URL } = process.env;
  if (PALAVER_URL && !settings) return { url: PALAVER_URL.replace(/\/$/, ""), stop: async () => {} };
  const dir = await mkdtemp(path.join(tmpdir(), "palaver-e2e-"));
  const { PATH, HOME } = process.env;
  // The port must not change on a restart, because pages stay open.
  const env = { PATH, HOME, PORT: await freePort(), TEMPORAL_PORT: "0", TEMPORAL_UI_PORT: "0", PALAVER_DATA_DIR: path.join(dir, "data"), CHAT_RATE_LIMIT: "off", MAX_NEW_THREADS_PER_ADDRESS: "off", MAX_STREAMS_PER_ADDRESS: "0", CHANGE_RATE_LIMIT: "off", QUOTA_PER_ADDRESS: "off", CHAT_MODEL_PROVIDER: "offline", TITLES: "off", ...settings };
  const flags = Object.keys(env).filter((name) => name.startsWith("--")).map((name) => `${name}=${env[name]}`);
  let running;
  const stack = {
    url: `http://127.0.0.1:${env.PORT}`,
    start: async () => {
      running = await start(dir, env, flags);
    },
    /** Kills the process, like a crash. */
    kill: () => running.end("SIGKILL"),
    async stop() {
      await running.end("SIGINT");
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    await stack.start();
  } catch (err) {
    await rm(dir, { recursive: true, force: true });
    throw err;
  }
  return stack;
}

async function start(cwd, env, flags) {
  const child = spawn(BINARY, flags, { cwd, env, stdio: ["ignore", "pipe", "pipe"] }); // the working folder is a new one, so that it does not read a developer's .env
  const exited = new Promise((resolve) => child.once("close", resolve));
  const end = async (signal) => {
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(timer);
  };
  let out = "";
  try {
    await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ready after ${START_MS / 1000} s:\n${out}`)), START_MS);
      const read = (piece) => {
        out = (out + piece).slice(-20_000);
        if (!out.includes("Palaver is ready")) return;
        clearTimeout(timer);
        resolve();
      };
      child.stdout.on("data", read);
      child.stderr.on("data", read);
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`${BINARY} ended with ${code}:\n${out}`)));
    });
  } catch (err) {
    await end("SIGKILL");
    throw err;
  }
  return { end };
}
