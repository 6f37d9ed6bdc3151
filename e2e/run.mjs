// Runs test files, two at a time, in one browser. The files that need no settings of their own
// share one stack; each test comes as a new user, so they do not see each other's conversations.
//
//   node run.mjs [options of node --test] FILE...
import { spawn } from "node:child_process";
import { startBrowserAt } from "./browser.mjs";
import { freePort, startStack } from "./stack.mjs";

const port = await freePort();
const browser = await startBrowserAt(port);
const stack = await startStack();
const tests = spawn(process.execPath, ["--test", "--test-concurrency=2", "--test-reporter=spec", ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, PALAVER_URL: stack.url, PALAVER_BROWSER: `http://127.0.0.1:${port}` },
});
process.on("SIGINT", () => {}); // the tests got it too: they end first
const [code] = await new Promise((resolve) => tests.once("close", (...end) => resolve(end)));
await Promise.all([stack.stop(), browser.close()]);
process.exitCode = code ?? 1;
