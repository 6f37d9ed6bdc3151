// @vitest-environment jsdom
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "vite";
import { afterEach, describe, expect, it } from "vitest";
import type { Question } from "../thread/types";
import { de } from "./de";
import { en } from "./en";
import { chosen, loadLanguage, words } from "./index";
import { clock, day, number } from "./intl";
import { failure, markRemovedQuotes, option, question, refusal, status, toolTitle } from "./wire";

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

const asks = (interrupt_type: string, message: string, ...tools: string[]): Question => ({
  interrupt_id: "i",
  interrupt_type,
  message,
  turn_id: "t",
  answered: false,
  tool_calls: tools.map((name, i) => ({ id: String(i), name, arguments: {}, editable: false })),
});

describe("the server's texts", () => {
  it("are translated into the page's texts", () => {
    expect(question(asks("action_choice", "I'm not sure what action you'd like. Please choose:"))).toBe("What would you like to do with your documents?");
    expect(question(asks("doc_choice", 'I could not find "a.b. c". Which document do you mean?'))).toBe('I couldn\'t find "a.b. c". Which document do you mean?');
    expect(question(asks("tool_approval", "May I run tracker__create_ticket?", "tracker__create_ticket"))).toBe("Allow “Create ticket” (tracker)?");
    expect(question(asks("tool_approval", "I was interrupted while x ran and do not know whether it finished. Run it again?", "look_up"))).toMatch(/^“Look up” was interrupted/);
    expect(question(asks("tool_approval", "May I run these tools?", "a", "b"))).toBe("Allow these tools?");
    expect(option("action_choice", { id: "audit", label: "Audit" })).toBe("Check against rules");
    expect(option("doc_choice", { id: "continue", label: "My plan" })).toBe("My plan");
    expect(status({ node: "validate_inputs", message: "Validating request..." })).toBe("");
    expect(status({ node: "web_search", message: "", web_query: "rates" })).toBe("Searching the web for “rates”");
    expect(status({ node: "tool", message: "Calling generate_image..." })).toBe("Using “Generate image”…");
    expect(failure({ code: "model_rejected", message: "Rejected. Check OPENAI_API_KEY.", retryable: false })).toBe("The AI service rejected the request.");
    const unavailable = "The model is not available. The server's log says why.";
    expect(failure({ code: "model_rejected", message: unavailable, retryable: false })).toMatch(/isn't available[^.]*\. The server's log says why\.$/);
    expect(failure({ code: "model_rejected", message: `${unavailable} Check OPENAI_API_KEY.`, retryable: false })).toMatch(/says why\. Check OPENAI_API_KEY\.$/);
    expect(failure({ code: "model_rejected", message: "Rejected. The provider's content filter stopped the answer.", retryable: false })).toMatch(/content filter/);
    expect(refusal("unsupported_type", "Unsupported file type. Text, HTML and PDF files can be read.")).toBe("Unsupported file type. Use Text, HTML, or PDF.");
    expect(refusal("rate_limited", "You have sent many messages in a short time. Please wait a moment.")).toBe("You're sending messages too fast. Wait a moment.");
    expect(markRemovedQuotes("It is [quotation removed: not in the sources].")).toBe("It is ⚠ Unverified quote removed.");
  });

  it("are shown unchanged when the page has no translation", () => {
    expect(question(asks("text_input", "How many?"))).toBe("How many?");
    expect(option("text_input", { id: "x", label: "Some" })).toBe("Some");
    expect(status({ node: "model_retry", message: "Model busy, retrying (12)..." })).toBe("Model busy, retrying (12)");
    expect(status({ node: "new_step", message: "Counting..." })).toBe("Counting...");
    expect(refusal("constructor", "Odd.")).toBe("Odd.");
    expect(toolTitle("constructor")).toBe("“Constructor”");
  });

  it("include every sentence that the page translates", () => {
    const root = path.resolve(import.meta.dirname, "../../..");
    const sources = ["api", "chat", "internal", "activities", "llm"].flatMap((dir) => goFiles(path.join(root, dir))).map((f) => readFileSync(f, "utf8")).join("\n");
    expect(Object.keys(en.server).filter((sentence) => !sources.includes(JSON.stringify(sentence)))).toEqual([]);
  });
});

const goFiles = (dir: string) => readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".go") && !f.endsWith("_test.go")).map((f) => path.join(dir, f));

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

/** Sentences of the server that files compare with. */
const OF_THE_SERVER = ["No result: the turn was stopped before the tool answered.", "No result: the turn was stopped before anybody decided on the tool.", "Web search"];

it("only the language files contain texts that people see", () => {
  const src = path.resolve(import.meta.dirname, "..");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((f) => /\.tsx?$/.test(f) && !/\.test\.ts$|testserver|^words\//.test(f));
  const found = files.flatMap((f) => literals(parseAst(readFileSync(path.join(src, f), "utf8"), { lang: f.endsWith("x") ? "tsx" : "ts" }), []).map((text) => `${f}: ${text}`));
  expect(found.filter((text) => !OF_THE_SERVER.some((s) => text.endsWith(s)))).toEqual([]);
}, 60_000);
