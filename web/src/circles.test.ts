import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "vite";
import { expect, it } from "vitest";

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter((f) => /\.tsx?$/.test(f));

/** The files of this folder that a file imports, also those of which it imports only types. */
function importsOf(file: string): string[] {
  const { body } = parseAst(readFileSync(path.join(import.meta.dirname, file), "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" });
  const sources = body.flatMap((n) => ("source" in n && n.source ? [n.source.value] : [])).filter((s) => s.startsWith("."));
  return sources.flatMap((s) => {
    const target = path.join(path.dirname(file), s);
    return files.filter((f) => f === target || [".ts", ".tsx", "/index.ts"].some((end) => f === target + end));
  });
}

/** The circles among the imports of files. */
function circles(graph: ReadonlyMap<string, string[]>): string[] {
  const found: string[] = [];
  const left = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    const at = way.indexOf(file);
    if (at >= 0) found.push([...way.slice(at), file].join(" → "));
    if (at >= 0 || left.has(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...way, file]);
    left.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

it("finds circles of imports", () => {
  const graph = new Map([["a", ["b", "c"]], ["b", ["c"]], ["c", ["d"]], ["d", ["b"]]]);
  expect(circles(graph)).toEqual(["b → c → d → b"]);
});

it("no files import each other in a circle", () => {
  expect(circles(new Map(files.map((f) => [f, importsOf(f)])))).toEqual([]);
}, 60_000);
