import type { Citation } from "../api/types";
import { words } from "../words";
import { sourceLine } from "./parts";

const KEPT = new Set(["href", "dir", "colspan", "rowspan", "start", "open", "checked", "type"]);

/** The answer that an element shows, as HTML for other programs: without the page's controls and styles, with the quotes of its citations below. */
export function htmlOf(article: Element, citations: readonly Citation[]): string {
  const out = document.createElement("div");
  for (const answer of article.querySelectorAll(".answer")) out.append(...[...answer.children].flatMap((block) => [...(block.cloneNode(true) as Element).childNodes]));
  for (const chip of out.querySelectorAll("[data-citation]")) chip.replaceWith(`[${chip.textContent}]`);
  for (const name of out.querySelectorAll(".document, .table-scroll")) name.replaceWith(...name.childNodes);
  for (const diagram of out.querySelectorAll<HTMLElement>(".diagram")) {
    const code = document.createElement("pre");
    code.append(Object.assign(document.createElement("code"), { textContent: diagram.dataset.code }));
    diagram.replaceWith(code);
  }
  for (const picture of out.querySelectorAll("img")) picture.replaceWith(picture.alt);
  out.querySelectorAll("button, .sr-only, .katex-html, .host, [data-language]").forEach((e) => e.remove());
  const unverified = out.querySelectorAll("u.unverified");
  unverified.forEach((u) => u.after("*"));
  for (const e of out.querySelectorAll("*")) {
    if (e.getAttribute("href")?.startsWith("#")) e.removeAttribute("href"); // footnotes have other ids elsewhere
    for (const { name } of [...e.attributes]) if (!KEPT.has(name)) e.removeAttribute(name);
  }
  out.querySelectorAll("span:not([dir])").forEach((e) => e.replaceWith(...e.childNodes));
  const note = (text: string) => out.append(Object.assign(document.createElement("p"), { textContent: text }));
  if (unverified.length > 0) note(`* ${words.message.unverified}`);
  for (const c of citations) {
    if (out.textContent!.includes(`[${c.n}]`)) note(`[${c.n}] ${sourceLine(c)}`);
  }
  return out.innerHTML;
}
