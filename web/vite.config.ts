import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Writes each file of text once more, compressed with Brotli, for the server to send (embed.go). */
const brotli: Plugin = {
  name: "brotli",
  apply: "build",
  closeBundle() {
    for (const name of readdirSync("dist", { recursive: true, encoding: "utf8" })) {
      if (!/\.(js|css|html|svg)$/.test(name)) continue;
      const file = join("dist", name);
      writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)));
    }
  },
};

/** Leaves one format of each font of KaTeX: every browser that runs the page reads it. */
const oneFormat: Plugin = {
  name: "one-format",
  enforce: "pre",
  transform: (code, id) => (/katex[^/]*\.css$/.test(id) ? code.replace(/,\s*url\([^)]+\.(?:woff|ttf)\)\s*format\([^)]+\)/g, "") : null),
};

/** Adds the character maps that pdf.js reads for some Chinese, Japanese and Korean files, below its version. */
const cmaps: Plugin = {
  name: "cmaps",
  apply: "build",
  writeBundle() {
    const from = "node_modules/pdfjs-dist";
    const { version } = JSON.parse(readFileSync(`${from}/package.json`, "utf8")) as { version: string };
    cpSync(`${from}/cmaps`, `dist/assets/cmaps-${version}`, { recursive: true });
  },
};

/** Puts the stylesheet before the scripts, so that the frame is painted first. */
const stylesFirst: Plugin = {
  name: "styles-first",
  transformIndexHtml: {
    order: "post",
    handler: (html) => {
      const [link = ""] = /\s*<link rel="stylesheet"[^>]*>/.exec(html) ?? [];
      return html.replace(link, "").replace(/\s*<script type="module"/, (script) => link + script);
    },
  },
};

/** Adds Mermaid, for the frame that draws diagrams. */
const mermaid: Plugin = {
  name: "mermaid",
  apply: "build",
  writeBundle: () => cpSync("node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js", "dist/diagram/mermaid.js"),
};

// The server sends a strict policy (default-src 'self'), so nothing may be
// inlined as a data: URL.
export default defineConfig({
  plugins: [oneFormat, react(), tailwindcss(), cmaps, mermaid, stylesFirst, brotli],
  // What is loaded before the composer accepts typing is bounded by e2e/shell.test.mjs.
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    modulePreload: { polyfill: false },
    // What every page needs is in one file: each file costs a request, and compresses less well alone. Each language is a file of its own.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "start", tags: ["$initial"] },
          ],
        },
      },
    },
  },
  worker: { format: "es" },
  server: { fs: { allow: [".."] }, proxy: { "/api": { target: process.env.PALAVER_URL ?? "http://127.0.0.1:8080", changeOrigin: false } } },
  test: { environment: "node", include: ["src/**/*.test.ts"], setupFiles: "src/words/english.ts" },
});
