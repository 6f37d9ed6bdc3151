// The client of clients/typescript as npm packs it, beside the libraries that it works with.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const SOURCE = fileURLToPath(new URL("../../clients/typescript", import.meta.url));
const MODULES = fileURLToPath(new URL("node_modules", import.meta.url));

/** Packs the client and unpacks it where it finds react and this package as "ai". Returns the folder, its files, and what imports an entry point. */
export function unpackClient(ai) {
  const packed = mkdtempSync(path.join(tmpdir(), "palaver-pack-"));
  const home = path.join(MODULES, `.client-${ai}`, "node_modules");
  rmSync(path.dirname(home), { recursive: true, force: true });
  const folder = path.join(home, "@palaver", "client");
  mkdirSync(folder, { recursive: true });
  try {
    const [{ filename, files }] = JSON.parse(execFileSync("npm", ["pack", "--json", "--silent", "--pack-destination", packed], { cwd: SOURCE, encoding: "utf8" }));
    execFileSync("tar", ["-xzf", path.join(packed, filename), "-C", folder, "--strip-components=1"]);
    symlinkSync(path.join(MODULES, ai), path.join(home, "ai"));
    const read = (name) => import(pathToFileURL(path.join(folder, "dist", `${name}.js`)));
    return { folder, files: files.map((f) => f.path), read };
  } finally {
    rmSync(packed, { recursive: true });
  }
}
