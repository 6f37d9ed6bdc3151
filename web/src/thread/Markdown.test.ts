// @vitest-environment jsdom
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import { describe, expect, it } from "vitest";
import { markMath } from "../lib/math";
import { remarkMarkers, seal } from "../lib/markers";

const html = (text: string) =>
  renderToString(createElement(ReactMarkdown, { remarkPlugins: [[remarkMath, { singleDollarTextMath: false }], remarkGfm, remarkMarkers] }, seal(markMath(text, false))));

describe("markdown with mathematics", () => {
  it("keeps every character of it, and the numbers of citations outside of it", () => {
    expect(html("A \\(a_1 * b_1[2]\\) *or* [1].")).toBe('<p>A <code class="language-math math-inline">a_1 * b_1[2]</code> <em>or</em>\u00a0<cite>1</cite>.</p>');
    expect(html("So\n\\[\n\\sqrt[3]{x}\n\\]")).toBe('<p>So</p>\n<pre><code class="language-math math-display">\\sqrt[3]{x}</code></pre>');
  });
});
