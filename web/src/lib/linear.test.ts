// @vitest-environment jsdom
import { describe, it } from "vitest";
import { blocksOf } from "../thread/blocks";
import { outsideCode } from "./code";
import { headingsAt } from "../shell/ideas";
import { rendered } from "./bounds";
import { hasMath, markMath } from "./math";
import { plain } from "./plain";

// Each of these took seconds or minutes with a regular expression that reads the rest of the text for each
// start.
const hostile: Record<string, (n: number) => string> = {
  backticks: (n) => "`".repeat(n) + "a".repeat(n),
  "backticks on the last line": (n) => `a\n${"`".repeat(n)}`,
  "open brackets": (n) => "\\[".repeat(n),
  "open brackets and dollars": (n) => "\\[".repeat(n) + "$$",
  "open parentheses": (n) => "\\(".repeat(n),
  "open parentheses, one closed later": (n) => `${"\\(".repeat(n)}\n\\)`,
  dollars: (n) => "$_".repeat(n),
  "a price with underscores": (n) => `$${"_".repeat(n)} $1`,
  "formulas on one line": (n) => "$$a$$ ".repeat(n / 2),
  "lines that begin a definition": (n) => "[\n".repeat(n),
  "blanks before a citation": (n) => `${" ".repeat(n)}a`,
  "blanks behind the line of a table": (n) => `---${" ".repeat(n)}a`,
  "a heading of signs": (n) => `# ${"#".repeat(n)}a`,
};
const used: Record<string, (text: string) => unknown> = {
  hasMath,
  "markMath, finished": (text) => markMath(text, false),
  "markMath, being written": (text) => markMath(text, true),
  blocksOf,
  outsideCode: (text) => outsideCode(text, (part) => part),
  plain,
  rendered: (text) => rendered([text]),
  headings: (text) => headingsAt(text, ""),
};

describe.each(Object.keys(used))("%s", (name) => {
  it.each(Object.keys(hostile))("ends for %s", (kind) => {
    used[name]!(hostile[kind]!(45_000)); // quadratic work takes longer than a test may
  });
});
