// @vitest-environment jsdom
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Citation } from "../api/types";
import { htmlOf } from "./copied";
import Markdown from "./Markdown";

test("an answer is copied as it is shown, without the page's controls", () => {
  const citations = [{ n: 1, source: "document", doc_id: "d", title: "Notes", quote: "The keeper\nrests.", page: 2 } as Citation];
  const text = "The keeper **rests**[1], H<sub>2</sub>O, never sleeps[^1].\n\n```js\nx\n```\n\n| a |\n| --- |\n| b |\n\n[^1]: A note. https://example.com";
  const article = document.createElement("article");
  article.innerHTML = renderToStaticMarkup(createElement(Markdown, { text, citations, unverified: ["never sleeps"], onCite: () => {} }));
  const html = htmlOf(article, citations);
  for (const part of ["<strong>rests</strong>", "[1]", "<sub>2</sub>", "<u>never sleeps</u>*", "<table>", "<td>b</td>", "<code dir=\"ltr\">x\n</code>", 'href="https://example.com"', "<p>[1] Notes, page 2: “The keeper rests.”</p>", "<p>* Not found word for word in the passages</p>"]) expect(html).toContain(part);
  expect(html).not.toContain("js");
  for (const part of ["<button", "<span", "class=", "style=", "aria-", 'href="#']) expect(html).not.toContain(part);
});

test("a diagram that is drawn is copied as its text, and a picture as its words", () => {
  const article = document.createElement("article");
  article.innerHTML = '<div class="answer"><div><div class="relative"><div class="diagram" data-code="graph TD; A--&gt;B"><img src="data:," alt="Diagram"></div></div><p>See <img src="/x.png" alt="the plan">.</p></div></div>';
  expect(htmlOf(article, [])).toBe("<div><pre><code>graph TD; A--&gt;B</code></pre></div><p>See the plan.</p>");
});
