// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { expect, it } from "vitest";
import Markdown from "./Markdown";

async function show(text: string): Promise<HTMLElement> {
  const page = document.createElement("div");
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  await act(async () => createRoot(page).render(createElement(Markdown, { text, onCite: () => {} })));
  return page;
}

// An answer, a shared link or a document with these killed the reader's tab.
it.each([
  ["a table", `${"|a".repeat(1500)}\n${"|-".repeat(1500)}\n${"a|\n".repeat(1000)}`],
  ["quotes", ">".repeat(2000) + "a"],
  ["lists", "- ".repeat(10_000)],
])("too large %s is shown as it was written, and the text around it as usual", async (_, block) => {
  const page = await show(`Some **bold** words [1].\n\n${block}\n\nThe *end*.`);
  expect(page.querySelector("strong")?.textContent).toBe("bold");
  expect(page.querySelector("em")?.textContent).toBe("end");
  expect(page.querySelectorAll("table, blockquote, li")).toHaveLength(0);
  expect(page.textContent).toContain(block.trimEnd());
});
