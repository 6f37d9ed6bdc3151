// What a newcomer does: an empty folder, the package, and the page of docs/clients.md, served by Vite on another port.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { desktop, newPage } from "../browser.mjs";
import { freePort } from "../stack.mjs";
import { browser, stack, useSlowModel } from "../suite.mjs";
import { assertSoon } from "../thread.mjs";

const at = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const MAX_LINES = 20;
const PIECES = Array.from({ length: 60 }, (_, i) => `word${i} `);

/** The blocks of code of a language in docs/clients.md. */
const shown = (language) => [...readFileSync(at("docs/clients.md"), "utf8").matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, code]) => code);
const SOURCE = { "index.html": shown("html")[0], "main.js": shown("js")[0] };

let port, folder, vite;
useSlowModel(PIECES, 50, async () => {
  port = await freePort();
  return { ALLOWED_ORIGINS: `http://localhost:${port}` };
});

/** An empty folder with vite and the packed client installed. */
function install() {
  folder = mkdtempSync(path.join(tmpdir(), "palaver-newcomer-"));
  const client = path.join(folder, "node_modules/@palaver/client");
  mkdirSync(client, { recursive: true });
  const [{ filename }] = JSON.parse(execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", folder], { cwd: at("clients/typescript"), encoding: "utf8" }));
  execFileSync("tar", ["-xzf", path.join(folder, filename), "-C", client, "--strip-components=1"]);
  symlinkSync(at("web/node_modules/vite"), path.join(folder, "node_modules/vite"));
  for (const [name, code] of Object.entries(SOURCE)) writeFileSync(path.join(folder, name), code);
}

describe("a newcomer's page", () => {
  let opened, page;
  before(async () => {
    install();
    opened = await newPage(browser, `http://localhost:${port}`, desktop);
    page = opened.page;
    const made = await opened.context.request.post(`${stack.url}/api/me/keys`, { data: { name: "newcomer", days: 1 } });
    vite = spawn(process.execPath, [at("web/node_modules/vite/bin/vite.js"), "--port", port, "--strictPort"], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: "1", VITE_PALAVER_URL: stack.url, VITE_PALAVER_KEY: (await made.json()).key },
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise((resolve, reject) => {
      vite.stdout.on("data", (piece) => /Local:/.test(piece) && resolve());
      vite.once("exit", (code) => reject(new Error(`vite ended with ${code}`)));
    });
  });
  after(async () => {
    vite?.removeAllListeners("exit");
    vite?.kill();
    await opened?.context.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });
  const rows = () => page.locator("li").allTextContents();
  const send = async (text) => {
    await page.locator("input").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const beginning = (n) => page.locator("li").nth(n).filter({ hasText: "word3" }).waitFor();

  it(`has at most ${MAX_LINES} lines`, () => {
    const lines = Object.values(SOURCE).flatMap((code) => code.split("\n").filter((line) => line.trim() !== ""));
    assert.ok(lines.length <= MAX_LINES, `${lines.length} lines`);
  });

  it("chats, attaches again after a reload, and stops", async () => {
    await page.goto("/");
    await send("Tell me");
    await beginning(1);
    await page.reload();
    await beginning(1);
    await page.locator("li").nth(1).filter({ hasText: `word${PIECES.length - 1}` }).waitFor();
    assert.deepEqual((await rows()).map((row) => row.trim()), ["user: Tell me", `assistant: ${PIECES.join("").trim()}`]);

    await send("Again");
    await beginning(3);
    await page.getByRole("button", { name: "Stop" }).click();
    const id = new URL(page.url()).hash.slice(1);
    const history = async () => (await opened.context.request.get(`${stack.url}/api/chat/history/${id}`)).json();
    await assertSoon(async () => !(await history()).active_turn, "the turn has ended");
    const { content } = (await history()).messages.at(-1);
    assert.match(content, /^word0 .*word3/);
    assert.ok(!content.includes(`word${PIECES.length - 1}`), content);
  });
});
