// @vitest-environment jsdom
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import Markdown from "./Markdown";

const cited = [{ n: 1, source: "web" as const, title: "T", quote: "q" }];
function html(text: string, more: object = {}): string {
  const page = document.createElement("div");
  page.innerHTML = renderToStaticMarkup(createElement(Markdown, { text, citations: cited, onCite: () => {}, ...more }));
  return [...page.querySelectorAll(".answer > div")].map((block) => block.innerHTML).join("").replaceAll(' dir="auto"', "").replaceAll("<br>\n", "<br>");
}

describe("an answer says what the model wrote", () => {
  it.each([
    ["one tilde strikes nothing through", "keep 5~7 units at 20~25 °C, H~2~O", "<p>keep 5~7 units at 20~25 °C, H~2~O</p>"],
    ["two tildes do", "~~old~~ new", "<p><del>old</del> new</p>"],
    ["tags of the list", "H<sub>2</sub>O, x<sup>2</sup>, <kbd>Ctrl</kbd>+<kbd>C</kbd>, <mark>now</mark><br>next<br/>last", "<p>H<sub>2</sub>O, x<sup>2</sup>, <kbd>Ctrl</kbd>+<kbd>C</kbd>, <mark>now</mark><br>next<br>last</p>"],
    ["capital letters", "a<BR>b<Sub>2</SUB>", "<p>a<br>b<sub>2</sub></p>"],
    ["bold in a tag", "<mark>**now** [1]</mark>", /^<p><mark><strong>now<\/strong>.*<\/mark><\/p>$/],
    ["a tag without its partner is text", "the <sub> tag and </sup>", "<p>the &lt;sub&gt; tag and &lt;/sup&gt;</p>"],
    ["tags with attributes are text", '<sub onclick="x()">2</sub> <script>alert(1)</script> <img src=x onerror=y>', '<p>&lt;sub onclick="x()"&gt;2&lt;/sub&gt; &lt;script&gt;alert(1)&lt;/script&gt; &lt;img src=x onerror=y&gt;</p>'],
    ["tags in code are code", "`<br>`", '<p><code dir="ltr">&lt;br&gt;</code></p>'],
    ["bold before Chinese", "**请注意。**请准时提交。", "<p><strong>请注意。</strong>请准时提交。</p>"],
    ["bold quotes before a citation", "**“Seven.”**[1] and *(nine)*[1]", /^<p><strong>“Seven.”<\/strong>.*<em>\(nine\)<\/em>/],
    ["bold quotes after a citation", "[1]**“Seven.”**", /<strong>“Seven.”<\/strong><\/p>$/],
    ["a citation in bold", "**[1] Seven [1]**", /^<p><strong>.*Seve.*<\/strong><\/p>$/],
    ["bold around Chinese quotes", "这是**「重要」**的", "<p>这是<strong>「重要」</strong>的</p>"],
    ["what is struck out before Chinese", "价格~~（一百元）~~是八十元", "<p>价格<del>（一百元）</del>是八十元</p>"],
    ["what is struck out around quotes", "这是~~「旧」~~的", "<p>这是<del>「旧」</del>的</p>"],
    ["what is struck out in Japanese", "~~旧い規則。~~新しい", "<p><del>旧い規則。</del>新しい</p>"],
    ["struck out quotes before a citation", "~~“Seven.”~~[1]", /<del>“Seven.”<\/del>/],
    ["one tilde in Chinese strikes nothing through", "约~（五）~七天", "<p>约~（五）~七天</p>"],
    ["bold in Japanese", "**重要です。**次に", "<p><strong>重要です。</strong>次に</p>"],
  ])("%s", (_, text, want) => {
    if (typeof want === "string") expect(html(text)).toBe(want);
    else expect(html(text)).toMatch(want);
  });

  it.each([
    ["看 https://example.com/guide（说明）and", "https://example.com/guide", "（说明）and"],
    ["看 https://example.com/a。Next", "https://example.com/a", "。Next"],
    ["「https://example.com/b」です", "https://example.com/b", "」です"],
    ["siehe „https://example.com/c“ und", "https://example.com/c", "“ und"],
  ])("the link in %s ends before the punctuation", (text, url, rest) => {
    expect(html(text)).toContain(`href="${url}"`);
    expect(html(text)).toContain(rest);
    expect(html(text).split("</a>")[1]).toContain(rest);
  });

  it("a link in angle brackets keeps its punctuation", () => expect(html("<https://example.com/（a）>")).toContain("%EF%BC%88a%EF%BC%89"));

  it("breaks lines and sets indices in a table's cells", () => {
    expect(html("| a | b |\n|---|---|\n| one<br>two | H<sub>2</sub>O |")).toMatch(/<td[^>]*>one<br>two<\/td><td[^>]*>H<sub>2<\/sub>O<\/td>/);
  });

  it("opens details with what is in them", () => {
    const out = html("a\n\n<details>\n<summary>More</summary>\n\n- **b**\n\n</details>\n\nc").replaceAll("\n", "");
    expect(out).toBe("<p>a</p><details><summary>More</summary><ul><li><strong>b</strong></li></ul></details><p>c</p>");
    expect(html("<details><summary>More</summary>Words</details>")).toBe("<details><summary>More</summary><p>Words</p></details>");
    expect(html("<details>\n<summary>More</summary>\n\nstill wri")).toContain("<details><summary>More</summary><p>still wri</p></details>");
  });

  it("writes each part in its own direction, also beside a footnote", () => {
    const page = document.createElement("div");
    page.innerHTML = renderToStaticMarkup(createElement(Markdown, { text: "Word[^1]\n\n# كلمة\n\nكلمة\n\n| كلمة |\n|---|\n| كلمة |\n\n[^1]: Note", citations: cited, onCite: () => {} }));
    expect([...page.querySelectorAll(".answer > div > *")].map((part) => [part.tagName, part.getAttribute("dir")])).toEqual(["P", "H2", "P", "DIV", "SECTION"].map((tag) => [tag, "auto"]));
  });

  it("makes a footnote of a footnote", () => {
    const out = html("The note[^1] and [1].\n\nMore.\n\n[^1]: With **bold** text.");
    expect(out).toMatch(/note<sup><a href="#[^"]*fn-1" id="[^"]*fnref-1">1<\/a><\/sup>/);
    expect(out).toMatch(/<section[^>]*class="footnotes"[^]*With <strong>bold<\/strong> text\./);
    expect(out).toContain(">1</span>"); // the citation
    expect(out).not.toContain("_blank");
  });
});

describe("numbers in a table", () => {
  const table = (...rows: string[]) => `| What | 2024 |\n|---|---|\n${rows.map((r) => `| x | ${r} |\n`).join("")}`;
  /** The cells of the second column that are set as numbers, with the header's. */
  const numbers = (text: string, more: object = {}) => {
    const page = document.createElement("div");
    page.innerHTML = html(text, more);
    return [...page.querySelectorAll("tr > :nth-child(2)")].map((cell) => cell.classList.contains("number"));
  };
  it.each(["34", "1,836.00", "1.836,00 €", "€ 12", "USD 2 300", "−5", "(120)", "12 %", "**34**", "34 [1]", "~20 kg", "1'000"])("%s is one", (cell) => expect(numbers(table(cell))).toEqual([true, true]));
  it.each(["2026-11-03", "03.11.2026", "1.2.3", "12:30", "INV-27", "10 per month", "5 of 9", "", "–"])("%j is none", (cell) => expect(numbers(table(cell))).toEqual([false, false]));
  it("stand below each other, words between them do not", () => expect(numbers(table("34", "none", "41"))).toEqual([true, true, false, true]));
  it("follow the alignment that the model wrote", () => {
    const out = html(table("34").replace("|---|---|", "|---|:-:|"));
    expect(out).toMatch(/<td style="text-align:center"[^>]*>34/);
    expect(numbers(table("34").replace("|---|---|", "|---|:--|"))).toEqual([false, false]);
  });
  it("do not move while the table streams", () => {
    const text = table("34", "none", "1,200").concat("\nEnd.");
    const seen = new Map<number, boolean>();
    for (let n = 1; n <= text.length; n++) {
      const cells = numbers(text.slice(0, n), { writing: true });
      cells.slice(0, 2).forEach((is, row) => {
        expect(is, `${row} in ${JSON.stringify(text.slice(0, n))}`).toBe(seen.get(row) ?? is);
        seen.set(row, is);
      });
    }
    expect([...seen.values()]).toEqual([true, true]);
  });
});

describe("unverified words", () => {
  const marked = (text: string, unverified: string[]) => html(text, { unverified }).replace(/<u [^>]*>/g, "<u>");
  it.each([
    ["in a sentence", "It holds at all times here.", ["holds at all times"], "<p>It <u>holds at all times</u> here.</p>"],
    ["with emphasis", "It holds *at* all times.", ["holds *at* all times"], "<p>It <u>holds <em>at</em> all times</u>.</p>"],
    ["in bold", "**it holds so** now", ["it holds so"], "<p><strong><u>it holds so</u></strong> now</p>"],
    ["the second time only if it is the second", "a b c d e, f", ["b c", "f"], "<p>a <u>b c</u> d e, <u>f</u></p>"],
    ["that are not there", "a b", ["c"], "<p>a b</p>"],
    ["in code are code", "`it holds so`", ["it holds so"], '<p><code dir="ltr">it holds so</code></p>'],
  ])("%s", (_, text, unverified, want) => expect(marked(text, unverified)).toBe(want));
  it("say why", () => expect(html("It holds.", { unverified: ["holds"] })).toContain('title="Not found word for word in the passages"'));
});

describe("a table that streams", () => {
  const states = (text: string) => [...text].map((_, i) => html(text.slice(0, i + 1), { writing: true }));
  it.each(["| a | b |\n|---|---|\n| 1 | 2 |\n", "a | b\n--- | ---\n1 | 2\n", "a|b\n-|-\n1|2\n", "They are:\na | b |\n:-- | --: |\n1 | 2 |\n"])("is shown when its second line is there: %j", (table) => {
    const shown = states(`See:\n\n${table}`);
    for (const s of shown) expect(s.replace(/<[^>]*>/g, "")).not.toContain("|");
    for (const s of shown) expect(s).not.toMatch(/<h\d|<hr/);
    expect(shown.filter((s) => s.includes("<table>"))).toEqual(shown.slice(-1));
  });
  it("takes no word away", () => {
    const lengths = states("The keeper of the lamp | b\n--- | ---\n1 | 2\n").map((s) => s.replace(/<[^>]*>/g, "").trim().length);
    expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
  });
  it.each(["Run `ls | wc` to count", "The size $$|x|$$ of", "```\na | b\n--- | ---\n```", "Write a \\| b", `The chance P(A|B) of ${"rain ".repeat(50)}`])("is not waited for in %j", (text) => {
    expect(html(text, { writing: true })).toBe(html(text));
  });
  it("is text when the answer ends before", () => expect(html("| a | b |")).toContain("| a | b |"));
});
