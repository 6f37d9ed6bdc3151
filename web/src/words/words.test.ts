// @vitest-environment jsdom
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "vite";
import { afterEach, describe, expect, it } from "vitest";
import type { Question } from "../thread/types";
import { inAnswers } from "./codes";
import { de } from "./de";
import { en } from "./en";
import { chosen, loadLanguage, words } from "./index";
import { clock, day, number } from "./intl";
import { failure, markRemovedQuotes, option, question, status, toolTitle, withoutOffline, worded } from "./wire";

afterEach(() => loadLanguage([]));

describe("the language of the page", () => {
  it.each([
    [["de-AT", "en"], "de-AT"],
    [["en-GB", "de"], "en-GB"],
    [["fr", "de"], "de"],
    [["fr", "deutsch"], "en"],
    [[], "en"],
  ])("%j is read as %s", (wanted, tag) => expect(chosen(wanted)).toBe(tag));

  it("is that of the browser, also for numbers and dates", async () => {
    await loadLanguage(["de-DE"]);
    expect(words).toBe(de);
    expect(document.documentElement.lang).toBe("de-DE");
    const evening = new Date(2026, 10, 21, 19, 5);
    expect([number(1234.5), day(evening), clock(evening)]).toEqual(["1.234,5", "21. Nov.", "19:05"]);
    expect(words.message.tokens(1843)).toBe("1.843 Tokens");
    await loadLanguage(["en-US"]);
    expect(words).toBe(en);
    expect([number(1234.5), day(evening), clock(evening).replace(/\s/u, " ")]).toEqual(["1,234.5", "Nov 21", "7:05 PM"]);
    expect([words.message.tokens(0), words.message.tokens(1), words.message.tokens(1843)]).toEqual(["0 tokens", "1 token", "1,843 tokens"]);
  });
});

describe("the server's texts", () => {
  it("are worded by their code and values", () => {
    const asks = (message_code: string, message_params = {}) => question({ message_code, message_params, message: "?" } as Question);
    expect(asks("question.action")).toBe("What would you like to do with your documents?");
    expect(asks("question.not_found", { names: '"a.b. c"', question: { message_code: "question.which_document" } })).toBe('I couldn\'t find "a.b. c". Which document do you mean?');
    expect(asks("question.run_tool", { tool: "tracker__create_ticket" })).toBe("Allow “Create ticket” (tracker)?");
    expect(asks("question.run_tool_again", { tool: "look_up" })).toMatch(/^“Look up” was interrupted/);
    expect(option({ label: "Audit", message_code: "option.audit" })).toBe("Check against rules");
    expect(option({ label: "My plan" })).toBe("My plan");
    expect(status({ node: "validate_inputs", message: "Validating request...", message_code: "status.validate" })).toBe("Validating request...");
    expect(status({ node: "web_search", message: "", message_code: "status.web_search", message_params: { query: "rates" } })).toBe('Searching online "rates"');
    expect(status({ node: "tool", message: "", message_code: "status.tool", message_params: { tool: "generate_image" } })).toBe("Using “Generate image”…");
    const unavailable = { message_code: "turn.model_not_available" };
    const key = { message_code: "hint.key", message_params: { setting: "OPENAI_API_KEY" } };
    expect(failure({ code: "model_rejected", message: "?", retryable: false, message_code: "hint.after", message_params: { message: unavailable, hint: key } })).toMatch(/isn't available[^.]*\. The server's log says why\. .* Check OPENAI_API_KEY\.$/);
    expect(worded({ message_code: "upload.document_type", message_params: { types: ["Text", "HTML", "PDF"] } }, "?")).toBe("Unsupported file type. Use Text, HTML, or PDF.");
    expect(worded({ message_code: "import.too_large", message_params: { size: 3 * 2 ** 20 + 1, limit: 2 ** 20 } }, "?")).toBe("That file is too large to import (3.1MB). The maximum file size is 1MB.");
  });

  it.each([["English", en], ["German", de]])("have values, and no placeholders, in %s", (_, { texts }) => {
    expect(Object.entries(texts).filter(([, text]) => typeof text === "string" && /\{\w+\}/.test(text))).toEqual([]);
  });

  it("are shown as the server sent them when the page has no words for them", () => {
    expect(question({ message: "How many?" } as Question)).toBe("How many?");
    expect(status({ node: "new_step", message: "Counting..." })).toBe("Counting...");
    expect(worded({ message_code: "constructor" }, "Odd.")).toBe("Odd.");
    expect(worded({ message_code: "upload.document_type" }, "A value is missing.")).toBe("A value is missing.");
    expect(worded({ message_code: "hint.after", message_params: { message: { message_code: "turn.of_a_later_server" }, hint: { message_code: "hint.filtered" } } }, "All of it.")).toBe("All of it.");
    expect(toolTitle("constructor")).toBe("“Constructor”");
  });

  it("inside of answers are replaced", () => {
    expect(markRemovedQuotes(`It is ${inAnswers.quote_removed}.`)).toBe("It is ⚠ Unverified quote removed.");
    for (const notice of [...inAnswers.offline, ...inAnswers.offline_plain]) expect(withoutOffline(`Yes [1].\n\n_${notice}_`)).toBe("Yes [1].");
    expect(withoutOffline("Yes [1].\n")).toBe("Yes [1].\n");
  });
});

interface Node {
  type: string;
  value?: unknown;
  name?: { name?: string };
  quasis?: { value: { cooked: string } }[];
  [key: string]: unknown;
}

const SHOWN = new Set(["aria-label", "alt", "label", "placeholder", "title"]);
const BRAND = "Palaver";
const isText = (s: string): boolean => /\p{L}/u.test(s.replaceAll(BRAND, ""));
const isSentence = (s: string): boolean => /^[A-Z][a-z']*[ .]|^[A-Z][a-z]+\.\.\.$/.test(s);

/** User-visible texts of a source file: in JSX, in visible attributes, and anything that looks like a sentence. */
function literals(node: unknown, found: string[], shown = false): string[] {
  if (Array.isArray(node)) for (const n of node) literals(n, found, shown);
  if (typeof node !== "object" || node === null || Array.isArray(node)) return found;
  const n = node as Node;
  if (n.type === "ImportDeclaration" || n.type === "NewExpression" || isConsole(n)) return found; // errors and logs are for developers
  if (n.type === "JSXText" && isText(String(n.value))) found.push(String(n.value).trim());
  const texts = n.type === "Literal" && typeof n.value === "string" ? [n.value] : n.type === "TemplateLiteral" ? n.quasis!.map((q) => q.value.cooked) : [];
  found.push(...texts.filter((s) => (shown ? isText(s) : isSentence(s))));
  const attribute = n.type === "JSXAttribute" && SHOWN.has(n.name?.name ?? "");
  for (const [key, child] of Object.entries(n)) if (key !== "name") literals(child, found, attribute && key === "value" ? !isCall(child) : shown && n.type !== "CallExpression" && n.type !== "BinaryExpression");
  return found;
}

const isConsole = (n: Node): boolean => n.type === "CallExpression" && (n.callee as { object?: { name?: string } }).object?.name === "console";
const isCall = (n: unknown): boolean => ((n as { expression?: Node } | null)?.expression?.type ?? "") === "CallExpression";

/** A label in a message, which the server reads. */
const OF_THE_SERVER = ["Web search"];

it("only the language files contain texts that people see", () => {
  const src = path.resolve(import.meta.dirname, "..");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((f) => /\.tsx?$/.test(f) && !/\.test\.ts$|testserver|^words\//.test(f));
  const found = files.flatMap((f) => literals(parseAst(readFileSync(path.join(src, f), "utf8"), { lang: f.endsWith("x") ? "tsx" : "ts" }), []).map((text) => `${f}: ${text}`));
  expect(found.filter((text) => !OF_THE_SERVER.some((s) => text.endsWith(s)))).toEqual([]);
}, 60_000);
